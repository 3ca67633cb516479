import type { TierName } from '../protocol/tiers.js'

/**
 * One project of one e-mail address. Rotating the key keeps the id, and with it quota, settlements and
 * idempotency keys.
 */
export interface Account {
  readonly id: string
  /** As first registered; compared case-insensitively. */
  readonly email: string
  readonly project: string
  readonly tier: TierName
  readonly status: 'active' | 'revoked'
  readonly createdAt: Date
  /** IP addresses and CIDR blocks that may use the key; null: no restriction. */
  readonly allowedIPs: readonly string[] | null
  /** Hosts of Referer or Origin that may use the key; null: no restriction. */
  readonly allowedRef: readonly string[] | null
}

export interface SealedKey {
  readonly fingerprint: Uint8Array
  readonly sealed: Uint8Array
}

export interface KeyedAccount {
  readonly account: Account
  readonly sealed: Uint8Array
}

/** Unique constraints decide races: one account per e-mail and project, one active key per account. */
export interface AccountStore {
  /** Creates an account with this key, or returns the existing one of the e-mail and project with its own key. */
  register(
    who: { readonly email: string; readonly project: string },
    key: SealedKey,
  ): Promise<KeyedAccount & { readonly isNew: boolean }>
  /** Finds the account by its active key; returns null for unknown, rotated and revoked keys. */
  findByKey(fingerprint: Uint8Array): Promise<Account | null>
  find(id: string): Promise<Account | null>
  /** Oldest first; case-insensitive. */
  listByEmail(email: string): Promise<readonly KeyedAccount[]>
  /** Oldest first. */
  list(): Promise<readonly Account[]>
  /** Replaces the active key. Returns false if `from` is not the active key (compare-and-swap). */
  rotate(id: string, from: Uint8Array, key: SealedKey): Promise<boolean>
  setRestrictions(id: string, restrictions: Pick<Account, 'allowedIPs' | 'allowedRef'>): Promise<void>
  /** Returns false if the account does not exist. */
  setTier(id: string, tier: TierName): Promise<boolean>
  /** Revokes the account and its keys. Returns false if the account does not exist. */
  revoke(id: string): Promise<boolean>
  /** Number of accounts with an active key. */
  count(): Promise<number>
}
