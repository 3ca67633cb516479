import type { JsonObject } from '../protocol/fields.js'
import type { TierName } from '../protocol/tiers.js'
import type { Actor } from './accountStore.js'

export interface OperatorAction {
  readonly id: string
  readonly createdAt: Date
  /** `pause.set`, `pause.cleared`, `delivery.redelivered`, `settlements.archived`, or an action on an account, such as `tier.changed`. */
  readonly action: string
  readonly target: JsonObject
  /** Name that the operator gave; null: none. */
  readonly by: string | null
  readonly address: string | null
  readonly before: JsonObject | null
  readonly after: JsonObject | null
}

export interface FoundAccount {
  readonly id: string
  readonly email: string
  readonly project: string
  readonly tier: TierName
  readonly status: 'active' | 'revoked'
  readonly createdAt: Date
  /** Of its keys, up to a minute late; null: never. */
  readonly lastUsedAt: Date | null
  /** Keys that are active or retiring. */
  readonly keys: number
}

/** Reads and writes of operators that no other noun has. */
export interface OperatorRecords {
  recordAction(
    action: Pick<OperatorAction, 'action' | 'target' | 'by' | 'before' | 'after'> & Pick<Actor, 'address'>,
  ): Promise<void>
  /** Newest first, of at most 90 days, with those of the accounts' audit log. `before` is an id of the previous page. */
  listActions(page: {
    readonly limit: number
    readonly before?: string | undefined
  }): Promise<readonly OperatorAction[]>
  /** Deletes actions older than the retention. */
  purgeActions(): Promise<void>
  /** By e-mail address; `after` is the last id of the previous page. */
  searchAccounts(search: {
    /** The beginning of the address, in any case; empty: all accounts. */
    readonly emailPrefix: string
    readonly limit: number
    readonly after?: string | undefined
  }): Promise<readonly FoundAccount[]>
  findAccount(id: string): Promise<FoundAccount | null>
  /** Account of a webhook delivery; null: there is no such delivery. */
  findDeliveryAccount(deliveryId: string): Promise<string | null>
}
