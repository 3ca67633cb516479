import type { Account, Actor, ApiKey } from '../../ports/accountStore.js'
import type { AccountSettlementFilter } from '../../ports/settlementOverview.js'
import type {
  AccountInfo,
  AccountSettlementPage,
  AuditPage,
  CreatedKey,
  KeyList,
  KeyScope,
  LookupResult,
  NamedKeyList,
  Quota,
  RegisterResult,
  Restrictions,
  RestrictionsChange,
  RevokedKey,
  RotatedKey,
  Usage,
} from '../../protocol/accounts.js'

interface RegisterRequest {
  readonly email: string
  readonly projectName: string
}

/** `trusted`: a program on the instance's own machine, or an operator. Knowing an e-mail address proves nothing. */
export type KeyViewer = 'trusted' | 'stranger'

export interface PresentedKey {
  readonly apiKey: string
  /** Client address as resolved through the trusted proxies. */
  readonly address: string
  /** Host of Referer or Origin in lower case; null without either. */
  readonly refererHost: string | null
  /** The route requires it; null or absent: none. */
  readonly scope?: KeyScope | null
}

/** An account, and the key that the request carries. */
export interface KeyHolder extends Account {
  readonly key: ApiKey
  /** False: its limits are also those of the address that calls. */
  readonly isProven: boolean
}

export interface Client {
  readonly address: string
  /** The IPv4 address, or the IPv6 /64 around it. */
  readonly network: string
}

interface ApiKeyRequest {
  readonly name: string
  /** Default: the scopes of the request's key. */
  readonly scopes?: readonly KeyScope[] | undefined
  /** Null: never. */
  readonly expiresAt: Date | null
}

interface AuditQuery {
  readonly limit: number
  readonly cursor?: string | undefined
}

export interface AccountSettlementsQuery extends Omit<AccountSettlementFilter, 'accountId' | 'after'> {
  readonly cursor?: string | undefined
}

export interface DashboardUseCases {
  /** Throws UNAUTHORIZED for an invalid key, FORBIDDEN if its restrictions exclude the client or it lacks the scope. */
  authenticate(use: PresentedKey): Promise<KeyHolder>
  /** Throws INVALID_REQUEST. Limits are counted after this check. */
  checkRegistration(request: Pick<RegisterRequest, 'email'> & Partial<RegisterRequest>): void
  /** Throws FORBIDDEN if a cap is reached. */
  register(request: RegisterRequest, viewer: KeyViewer, client?: Client | null): Promise<RegisterResult>
  lookUp(email: string, viewer: KeyViewer): Promise<LookupResult>
  readInfo(account: Account): Promise<AccountInfo>
  readQuota(account: Account): Promise<Quota>
  listKeys(holder: KeyHolder, viewer: KeyViewer): Promise<KeyList>
  /** `hours`: also counts the settlements of so many hours. */
  readUsage(account: Account, query?: { readonly hours?: number | undefined }): Promise<Usage>
  /** Throws INVALID_REQUEST for a cursor that is not one of the account's own settlements. */
  listSettlements(
    account: Pick<Account, 'id'>,
    query: AccountSettlementsQuery,
  ): Promise<AccountSettlementPage>
  /** Throws UNAUTHORIZED if a concurrent rotation replaced the key first. */
  rotateKey(
    account: Account,
    apiKey: string,
    options?: { readonly graceSeconds?: number; readonly by?: Actor },
  ): Promise<RotatedKey>
  /** Throws FORBIDDEN for scopes that the holder's key lacks, INVALID_REQUEST if there are too many keys. */
  createApiKey(holder: KeyHolder, request: ApiKeyRequest, by?: Actor): Promise<CreatedKey>
  listApiKeys(holder: KeyHolder): Promise<NamedKeyList>
  /** Throws NOT_FOUND, or INVALID_REQUEST for the primary key. */
  revokeApiKey(holder: KeyHolder, keyId: string, by?: Actor): Promise<RevokedKey>
  readAudit(account: Account, query: AuditQuery): Promise<AuditPage>
  /** Throws INVALID_REQUEST for malformed entries, and for addresses that exclude the actor unless forced. */
  restrict(account: Account, change: RestrictionsChange, by?: Actor): Promise<Restrictions>
  countKeys(): Promise<number>
}
