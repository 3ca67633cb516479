import type { Actor } from './accountStore.js'

/** Networks are canonical (CAIP-2), recipients as their network spells them. */
export type PauseTarget =
  | { readonly kind: 'network'; readonly network: string }
  | { readonly kind: 'scheme'; readonly network: string; readonly scheme: string }
  | { readonly kind: 'recipient'; readonly network: string; readonly payTo: string }
  | { readonly kind: 'account'; readonly accountId: string }

export interface Pause {
  readonly target: PauseTarget
  /** Callers that are refused read it. */
  readonly reason: string
  /** Name that the operator gave; null: none. */
  readonly by: string | null
  readonly since: Date
}

/** What decides whether a payment is paused. */
export interface PausablePayment {
  readonly network: string
  readonly scheme: string
  /** As the caller spelled it. Absent: pauses of recipients are not checked. */
  readonly payTo?: string
  /** Account id, or `anonymous`. Absent: pauses of accounts are not checked. */
  readonly caller?: string
}

/** In memory: payments ask it. The oldest pause that covers the payment; null: none. */
export type FindPause = (payment: PausablePayment) => Pause | null

type SetPause =
  | { readonly state: 'set' | 'unchanged'; readonly pause: Pause }
  /** There are `maxPauses` others. */
  | { readonly state: 'full' }

/** Every change writes its entry of the audit trail in the same transaction. */
export interface PauseStore {
  /** All of them, oldest first. */
  list(): Promise<readonly Pause[]>
  /** Calls the listener with all of them whenever they were read for all instances; `sentAt`: `performance.now()` before that. */
  watch(listener: (pauses: readonly Pause[], sentAt: number) => void): void
  /** Says whether they are read before the next request instead of every two seconds. */
  isResting(): boolean
  /** A pause that exists keeps its `since`. */
  set(
    pause: Omit<Pause, 'since'>,
    change: Pick<Actor, 'address'> & { readonly maxPauses: number },
  ): Promise<SetPause>
  /** Returns false if there was none. */
  clear(target: PauseTarget, by: { readonly name: string | null } & Pick<Actor, 'address'>): Promise<boolean>
}
