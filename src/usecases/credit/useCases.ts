import type { CreditRanking, CreditScore, RefreshedCreditScore } from '../../protocol/credit.js'
import type { WalletQuery } from './findWallets.js'

export interface CreditUseCases {
  /** Throws INVALID_REQUEST for an address of no family. A wallet that never paid has the score 0. */
  readScore(query: WalletQuery): Promise<CreditScore>
  /** As `readScore`, after a recount of the wallet's settlements. */
  refreshScore(query: WalletQuery): Promise<RefreshedCreditScore>
  listTop(limit: number): Promise<CreditRanking>
}
