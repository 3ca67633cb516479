import type { RequestStatistics, SettlementStatistics } from '../../protocol/statistics.js'
import type { TalliedRequest } from './tallyRequests.js'

export interface StatsUseCases {
  countRequest(request: TalliedRequest): void
  readRequestStatistics(): Promise<RequestStatistics>
  readSettlementStatistics(): Promise<SettlementStatistics>
}
