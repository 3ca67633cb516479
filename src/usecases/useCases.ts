import type { CoreUseCases } from './core/useCases.js'
import type { DashboardUseCases } from './dashboard/useCases.js'
import type { StatsUseCases } from './stats/useCases.js'
import type { WebhookUseCases } from './webhooks/useCases.js'

/** Everything that the HTTP side may call, by noun. */
export interface UseCases {
  readonly core: CoreUseCases
  readonly dashboard: DashboardUseCases
  readonly stats: StatsUseCases
  readonly webhooks: WebhookUseCases
}
