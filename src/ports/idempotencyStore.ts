/** A request that carries an `Idempotency-Key`. */
export interface IdempotentRequest {
  /** The scope of the key: an API key's id, or `anonymous`. */
  readonly caller: string
  readonly key: string
  /** Hash of the canonical request. */
  readonly fingerprint: string
}

/** What is known of an earlier request with the same key. `started`: none, or one whose process died. */
export type IdempotencyAnswer =
  | { readonly state: 'started' }
  | { readonly state: 'running' }
  | { readonly state: 'mismatch' }
  | { readonly state: 'failed' }
  | { readonly state: 'answered'; readonly response: unknown }

/** Remembers requests by their key for 24 hours. Throws when the store cannot be asked. */
export interface IdempotencyStore {
  begin(request: IdempotentRequest): Promise<IdempotencyAnswer>
  /** Keeps a final success for replay. */
  answer(request: IdempotentRequest, response: unknown): Promise<void>
  /** Keeps that the request failed for good. */
  fail(request: IdempotentRequest): Promise<void>
  /** The outcome is open: the next request with the key goes on where this one stopped. */
  release(request: IdempotentRequest): Promise<void>
  /** Nothing was decided: the key is free again. */
  forget(request: IdempotentRequest): Promise<void>
  /** Removes what is older than the retention. */
  purge(): Promise<void>
}
