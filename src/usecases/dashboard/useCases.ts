import type { AccountSettlementFilter } from '../../ports/accountSettlements.js'
import type { Account } from '../../ports/accountStore.js'
import type { AccountSettlementPage } from '../../protocol/accountSettlements.js'
import type {
  AccountInfo,
  KeyList,
  LookupResult,
  Quota,
  RegisterResult,
  Restrictions,
  RotatedKey,
  Usage,
} from '../../protocol/accounts.js'

export interface RegisterRequest {
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
}

export interface AccountSettlementsQuery extends Omit<AccountSettlementFilter, 'accountId' | 'after'> {
  readonly cursor?: string | undefined
}

export interface DashboardUseCases {
  /** Throws UNAUTHORIZED for an invalid key, FORBIDDEN if its restrictions exclude the client. */
  authenticate(use: PresentedKey): Promise<Account>
  register(request: RegisterRequest, viewer: KeyViewer): Promise<RegisterResult>
  lookUp(email: string, viewer: KeyViewer): Promise<LookupResult>
  readInfo(account: Account): Promise<AccountInfo>
  readQuota(account: Account): Promise<Quota>
  listKeys(account: Account, viewer: KeyViewer): Promise<KeyList>
  readUsage(account: Account): Promise<Usage>
  /** Throws INVALID_REQUEST for a cursor that is not one of the account's own settlements. */
  listSettlements(
    account: Pick<Account, 'id'>,
    query: AccountSettlementsQuery,
  ): Promise<AccountSettlementPage>
  /** Throws UNAUTHORIZED if a concurrent rotation replaced the key first. */
  rotateKey(account: Account, apiKey: string): Promise<RotatedKey>
  restrict(account: Account, restrictions: Restrictions): Promise<Restrictions>
  countKeys(): Promise<number>
}
