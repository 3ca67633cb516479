import type { AuditAction } from '../protocol/accounts.js'
import type { JsonObject } from '../protocol/jsonObject.js'

/** Who made a change, and from where. */
export interface Actor {
  /** `key <name> (<id>)`, `operator`, `registration` or `unknown`. */
  readonly actor: string
  /** Client address; null for commands on the server. */
  readonly address: string | null
}

export interface AuditEntry extends Actor {
  readonly id: string
  readonly accountId: string
  readonly createdAt: Date
  readonly action: AuditAction
  /** Never a secret. */
  readonly details: JsonObject
}

/** Append-only. Changes to accounts and keys write their entry in the same transaction. */
export interface AuditLog {
  record(entry: Omit<AuditEntry, 'id' | 'createdAt'>): Promise<void>
  /** Newest first; `before` is the last id of the previous page. Empty page for another account's id. */
  list(
    accountId: string,
    page: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<readonly AuditEntry[]>
  /** Deletes entries older than the retention. */
  purge(): Promise<void>
}
