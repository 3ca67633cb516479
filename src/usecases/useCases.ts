import type { CoreUseCases } from './core/useCases.js'
import type { CreditUseCases } from './credit/useCases.js'
import type { DashboardUseCases } from './dashboard/useCases.js'
import type { DiscoveryUseCases } from './discovery/useCases.js'
import type { IntentUseCases } from './intents/useCases.js'
import type { RecipientUseCases } from './recipients/useCases.js'
import type { ReconciliationUseCases } from './reconciliation/useCases.js'
import type { SandboxUseCases } from './sandbox/useCases.js'
import type { SiwxUseCases } from './siwx/useCases.js'
import type { StatsUseCases } from './stats/useCases.js'
import type { StreamUseCases } from './streams/useCases.js'
import type { WebhookUseCases } from './webhooks/useCases.js'

export interface UseCases {
  readonly core: CoreUseCases
  readonly credit: CreditUseCases
  readonly dashboard: DashboardUseCases
  readonly reconciliation: ReconciliationUseCases
  readonly recipients: RecipientUseCases
  readonly intents: IntentUseCases
  readonly siwx: SiwxUseCases
  readonly stats: StatsUseCases
  readonly streams: StreamUseCases
  readonly webhooks: WebhookUseCases
  /** Null outside the sandbox. */
  readonly sandbox: SandboxUseCases | null
  /** Null: `DISCOVERY=off`. */
  readonly discovery: DiscoveryUseCases | null
}
