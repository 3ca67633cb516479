import type { RequestStatistics, SettlementStatistics } from '../../protocol/statistics.js'
import type { TalliedRequest } from './tallyRequests.js'

/** The verbs of the noun `stats`. */
export interface StatsUseCases {
  countRequest(request: TalliedRequest): void
  readRequestStatistics(): Promise<RequestStatistics>
  readSettlementStatistics(): Promise<SettlementStatistics>
}
