import type { AccountSettlementFilter } from '../../ports/accountSettlements.js'
import type { Account } from '../../ports/accountStore.js'
import type { AccountSettlementPage } from '../../protocol/accountSettlements.js'
import type {
  AccountInfo,
  KeyList,
  LookedUp,
  Quota,
  Registered,
  Restrictions,
  RotatedKey,
  Usage,
} from '../../protocol/accounts.js'

/** Who wants a key, and for what. */
export interface RegisterRequest {
  readonly email: string
  readonly projectName: string
}

/**
 * Who reads keys. `trusted`: a program on the instance's own machine, or an operator. An e-mail address is no proof
 * of who asks.
 */
export type KeyViewer = 'trusted' | 'stranger'

/** A presented key, and where it came from. */
export interface KeyUse {
  readonly apiKey: string
  /** The client's address, behind the trusted proxies. */
  readonly address: string
  /** Host of Referer or Origin, in lower case; null when there is neither. */
  readonly refererHost: string | null
}

/** Which of its settlements an account wants to see, and from where on. */
export interface AccountSettlementsQuestion extends Omit<AccountSettlementFilter, 'accountId' | 'after'> {
  /** What an earlier page named in `nextCursor`. */
  readonly cursor?: string | undefined
}

/** The verbs of the noun `dashboard`: keys, and what their owners see and set. */
export interface DashboardUseCases {
  /** Throws UNAUTHORIZED for a key that is nobody's, FORBIDDEN where its restrictions keep it out. */
  authenticate(use: KeyUse): Promise<Account>
  register(request: RegisterRequest, viewer: KeyViewer): Promise<Registered>
  lookUp(email: string, viewer: KeyViewer): Promise<LookedUp>
  readInfo(account: Account): Promise<AccountInfo>
  readQuota(account: Account): Promise<Quota>
  listKeys(account: Account, viewer: KeyViewer): Promise<KeyList>
  readUsage(account: Account): Promise<Usage>
  /** Throws INVALID_REQUEST for a cursor that no page of the account's own named. */
  listSettlements(
    account: Pick<Account, 'id'>,
    question: AccountSettlementsQuestion,
  ): Promise<AccountSettlementPage>
  /** Replaces the presented key. Throws UNAUTHORIZED when another rotation was quicker. */
  rotateKey(account: Account, apiKey: string): Promise<RotatedKey>
  /** Throws INVALID_REQUEST, with the entry that is wrong. */
  restrict(account: Account, restrictions: Restrictions): Promise<Restrictions>
  /** The public count. */
  countKeys(): Promise<number>
}
