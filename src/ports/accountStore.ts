import type { TierName } from '../protocol/tiers.js'

/**
 * Who has a key: one project of one e-mail address. It keeps its id, and with it its quota, its settlements and its
 * idempotency keys, when its key is rotated.
 */
export interface Account {
  readonly id: string
  /** As it was first registered; compared without letter case. */
  readonly email: string
  readonly project: string
  readonly tier: TierName
  readonly status: 'active' | 'revoked'
  readonly createdAt: Date
  /** Addresses and CIDR blocks that may use the key; null: every one. */
  readonly allowedIPs: readonly string[] | null
  /** Hosts of Referer or Origin that may use the key; null: every one. */
  readonly allowedRef: readonly string[] | null
}

/** A key as it is kept: never readable without the instance's own secret. */
export interface SealedKey {
  /** HMAC of the key: what it is found by. */
  readonly fingerprint: Uint8Array
  /** The key, encrypted. */
  readonly sealed: Uint8Array
}

/** An account and its newest key. */
export interface KeyedAccount {
  readonly account: Account
  readonly sealed: Uint8Array
}

/** Accounts and their keys. The database decides every race: one account per e-mail and project, one active key each. */
export interface AccountStore {
  /** Opens an account with this key, or answers the one that the e-mail address has for the project already. */
  register(
    who: { readonly email: string; readonly project: string },
    key: SealedKey,
  ): Promise<KeyedAccount & { readonly isNew: boolean }>
  /** The account whose active key this is; rotated and revoked keys are nobody's. */
  findByKey(fingerprint: Uint8Array): Promise<Account | null>
  find(id: string): Promise<Account | null>
  /** Oldest first, in any letter case of the address. */
  listByEmail(email: string): Promise<readonly KeyedAccount[]>
  /** Every account, oldest first; for operators. */
  list(): Promise<readonly Account[]>
  /** Replaces the active key; false when it is not (or no longer) the one that is named. */
  rotate(id: string, from: Uint8Array, key: SealedKey): Promise<boolean>
  setRestrictions(id: string, restrictions: Pick<Account, 'allowedIPs' | 'allowedRef'>): Promise<void>
  /** False when there is no such account. */
  setTier(id: string, tier: TierName): Promise<boolean>
  /** Its keys are nobody's from now on; false when there is no such account. */
  revoke(id: string): Promise<boolean>
  /** How many accounts have an active key. */
  count(): Promise<number>
}
