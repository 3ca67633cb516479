import type { CoreUseCases } from './core/useCases.js'
import type { DashboardUseCases } from './dashboard/useCases.js'
import type { StatsUseCases } from './stats/useCases.js'
import type { WebhookUseCases } from './webhooks/useCases.js'

export interface UseCases {
  readonly core: CoreUseCases
  readonly dashboard: DashboardUseCases
  readonly stats: StatsUseCases
  readonly webhooks: WebhookUseCases
}
