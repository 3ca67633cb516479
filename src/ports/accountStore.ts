import type { AuditAction, KeyScope } from '../protocol/accounts.js'
import type { JsonObject } from '../protocol/fields.js'
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
  /**
   * Whom limits and the quota count: itself, if an operator granted its tier or an older version registered it; else its
   * mailbox. Accounts that name a mailbox without proof are one customer where one network registered them.
   */
  readonly customer: string
  /**
   * Whether it belongs to its mailbox: its key was sent there, or an operator vouched for it. Null: registered by an older
   * version, which did not record it.
   */
  readonly isProven: boolean | null
}

export interface ApiKey {
  readonly id: string
  readonly name: string
  readonly scopes: readonly KeyScope[]
  /** `retiring`: replaced, valid until `expiresAt`. */
  readonly status: 'active' | 'retiring'
  /** The key that registration returned, or what replaced it. */
  readonly isPrimary: boolean
  readonly createdAt: Date
  readonly expiresAt: Date | null
  /** Written with a delay of up to a minute. */
  readonly lastUsedAt: Date | null
}

/** An account with the key that authenticated. */
export interface KeyUse {
  readonly account: Account
  readonly key: ApiKey
}

export interface SealedKey {
  readonly fingerprint: Uint8Array
  readonly sealed: Uint8Array
}

export interface KeyedAccount extends SealedKey {
  readonly account: Account
}

export interface Mailbox {
  /** The same for all spellings of one address. */
  readonly mailbox: string
  /** The domain as registered, without subdomains. */
  readonly domain: string
}

export interface Registrant {
  /** Default: a new UUID. Keys are sealed for the account's id, so the caller chooses it. */
  readonly id?: string
  readonly email: string
  readonly project: string
  /** As in `Account`. Default: not recorded. */
  readonly isProven?: boolean
  /** What accounts of one customer have in common beside a mailbox that is not proven. Null: nothing. */
  readonly registrant?: string | null
  /** Null caps: no limit. Absent: the address is its own identity. */
  readonly identity?: Mailbox & {
    readonly maxProjects: number | null
    /** Mailboxes under one registrable domain. */
    readonly maxMailboxes: number | null
  }
}

interface NewKey extends SealedKey, Pick<ApiKey, 'name' | 'scopes' | 'expiresAt'> {}

interface Change {
  /** Default: unknown. */
  readonly by?: Actor
}

/** Unique constraints decide races: one account per e-mail and project, one active primary key per account. */
export interface AccountStore {
  /**
   * Creates an account with this key, or returns the existing one of the e-mail and project with its own key. Throws
   * FORBIDDEN if a cap of the mailbox or its domain is reached.
   */
  register(
    who: Registrant,
    key: SealedKey,
    change?: Change,
  ): Promise<KeyedAccount & { readonly isNew: boolean }>
  /** Finds the account by a valid key; returns null for unknown, rotated, expired and revoked keys. */
  findByKey(fingerprint: Uint8Array): Promise<KeyUse | null>
  find(id: string): Promise<Account | null>
  /** Oldest first, with their primary keys; case-insensitive. */
  listByEmail(email: string): Promise<readonly KeyedAccount[]>
  /** Oldest first. */
  list(): Promise<readonly Account[]>
  /**
   * Replaces a key by one with the same name, scopes and expiry. Returns false if `from` is not an active key
   * (compare-and-swap). For `graceMs` the old key stays valid, without the scope `manage`.
   */
  rotate(
    id: string,
    from: Uint8Array,
    key: SealedKey,
    change?: Change & { readonly graceMs?: number },
  ): Promise<boolean>
  /** Null if the account already has `maxKeys` valid keys. */
  addKey(
    id: string,
    key: NewKey,
    change: Change & { readonly maxKeys: number },
  ): Promise<Pick<ApiKey, 'id' | 'createdAt'> | null>
  /** Valid and expired keys, oldest first; without revoked and rotated ones. */
  listKeys(id: string): Promise<readonly ApiKey[]>
  /** `primary`: not revoked, because the primary key can only be rotated. Null if the account has no such key. */
  revokeKey(id: string, keyId: string, change?: Change): Promise<'revoked' | 'primary' | null>
  recordKeyUses(uses: ReadonlyMap<string, Date>): Promise<void>
  /** Changes only the lists that are given. Returns both as they are now; null if the account does not exist. */
  setRestrictions(
    id: string,
    restrictions: Partial<Pick<Account, 'allowedIPs' | 'allowedRef'>>,
    change?: Change,
  ): Promise<Pick<Account, 'allowedIPs' | 'allowedRef'> | null>
  /** Returns false if the account does not exist. */
  setTier(id: string, tier: TierName, change?: Change): Promise<boolean>
  /** Revokes the account and its keys. Returns false if the account does not exist. */
  revoke(id: string, change?: Change): Promise<boolean>
  /** Number of accounts with an active primary key. */
  count(): Promise<number>
}

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

export interface AddressBlocks {
  /** Canonical form of an address or CIDR block: IPv4-mapped IPv6 as IPv4, host bits cleared. Null if invalid. */
  normalize(text: string): string | null
  /** `blocks` must be normalized. Returns false for an invalid address. */
  include(blocks: readonly string[], address: string): boolean
}

export interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

export interface Mailer {
  /** Sends in the background; failures are logged. */
  send(mail: Mail): void
  /** Waits for messages in flight, at most their send deadline. */
  close(): Promise<void>
}

/** Bound to the ciphertext: text sealed for one purpose cannot be opened for another. */
export type SealPurpose = 'api-key' | 'webhook-secret' | 'sign-in-nonce'

/** Encrypts secrets that are stored in the database and must be readable again. */
export interface Sealer {
  /** Non-deterministic. `owner` is the account id, and is bound to the ciphertext. */
  seal(text: string, owner: string): Uint8Array
  /** Throws if the bytes were modified, or sealed with an unknown secret, for another purpose or another owner. */
  open(sealed: Uint8Array, owner: string): string
  /** Whether the bytes must be sealed again: an older format, or the previous secret. */
  isOutdated(sealed: Uint8Array): boolean
  /** Keyed hash, 32 bytes, deterministic: for lookups. */
  fingerprint(text: string): Uint8Array
  /** With every known secret, the current one first. */
  fingerprints(text: string): readonly Uint8Array[]
}
