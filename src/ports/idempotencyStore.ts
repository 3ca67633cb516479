import type { Reason } from '../protocol/reasons.js'

export interface IdempotentRequest {
  /** Scope of the key: account id, or `anonymous`. */
  readonly caller: string
  readonly key: string
  /** SHA-256 of the canonical request body. */
  readonly fingerprint: string
}

/**
 * `started`: no earlier request, or its process died. `mismatch`: same key, different body. `answered`:
 * succeeded; replay `response`. `failed`: permanently; the reason is null if it was not stored.
 */
export type IdempotencyState =
  | { readonly state: 'started' }
  | { readonly state: 'running' }
  | { readonly state: 'mismatch' }
  | { readonly state: 'failed'; readonly reason: Reason | null }
  | { readonly state: 'answered'; readonly response: unknown }

/** Keeps requests by key for 24 hours. Every method throws if the store is unavailable. */
export interface IdempotencyStore {
  begin(request: IdempotentRequest): Promise<IdempotencyState>
  /** Whether the key is kept for another fingerprint. Starts nothing. */
  isMismatch(request: IdempotentRequest): Promise<boolean>
  /** Stores a final success for replay. */
  answer(request: IdempotentRequest, response: unknown): Promise<void>
  /** Marks the request as permanently failed. */
  fail(request: IdempotentRequest, reason: Reason): Promise<void>
  /** The outcome is unknown: the next request with the key resumes. */
  release(request: IdempotentRequest): Promise<void>
  /** Deletes the key: nothing was decided. */
  forget(request: IdempotentRequest): Promise<void>
  /** Deletes records older than the retention, in batches until the signal aborts. */
  purge(stopped?: AbortSignal): Promise<void>
}
