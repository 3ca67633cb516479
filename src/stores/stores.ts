import type { Secret } from '../platform/secret.js'
import type { AccountStore, AuditLog, Mailbox } from '../ports/accountStore.js'
import type { Backfills } from '../ports/backfills.js'
import type { ChannelCustody } from '../ports/channelCustody.js'
import type { ChannelLedger } from '../ports/channelLedger.js'
import type { CreditStore } from '../ports/creditStore.js'
import type { DatabaseObserver } from '../ports/databaseObserver.js'
import type { DiscoveryCatalogue, OwnerChallenges } from '../ports/discovery.js'
import type { HeldPayments } from '../ports/heldPayments.js'
import type { Holds } from '../ports/holds.js'
import type { IdempotencyStore } from '../ports/idempotencyStore.js'
import type { IntentStore } from '../ports/intentStore.js'
import type { JobLeases, ReadinessCheck, WorkFinder } from '../ports/job.js'
import type { OverviewStore, PoolState } from '../ports/operatorOverview.js'
import type { PauseStore } from '../ports/operatorPauses.js'
import type { OperatorRecords } from '../ports/operatorRecords.js'
import type { Quotas } from '../ports/quotas.js'
import type { RateLimiter } from '../ports/rateLimiter.js'
import type { RecipientStatements, UniqueAmounts } from '../ports/recipients.js'
import type { ReconciliationStore } from '../ports/reconciliation.js'
import type { SandboxChannelStore, SandboxInboxes, SandboxScenarioStore } from '../ports/sandbox.js'
import type { BroadcastRetention, ConfirmedBlocks, SettlementJournal } from '../ports/settlementJournal.js'
import type {
  AccountSettlements,
  SettlementOverview,
  SponsoringHistory,
} from '../ports/settlementOverview.js'
import type { SignerLanes } from '../ports/signerLanes.js'
import type { Statistics } from '../ports/statistics.js'
import type { StreamStore } from '../ports/streamStore.js'
import type { SignInNonces } from '../ports/walletSignatures.js'
import type { EventFeed, WebhookOutbox } from '../ports/webhookOutbox.js'
import type { Tiers } from '../protocol/tiers.js'

// A bundle keeps the depth of this folder, so that the path holds there too.
export const migrationsFolder = new URL('../../migrations/', import.meta.url)

export interface StoreSettings {
  /** Null: the embedded database in `dataFolder`. */
  readonly databaseUrl: Secret | null
  readonly databasePoolSize: number
  /** For reads that may be slightly out of date, such as a replica; null: the database itself. */
  readonly databaseReadUrl: Secret | null
  readonly databaseReadPoolSize: number
  /** Bounds each such read. */
  readonly databaseReadTimeoutMs: number
  readonly dataFolder: string
  /** The embedded database, if another process of this service runs it. */
  readonly embeddedUrl?: Secret
  /** Where this process is one of several of a service. */
  readonly worker?: {
    /** No other process of the service has started: what the database knows of others is over. */
    readonly isFirst: boolean
    readonly workerCount: number
    /** Counts for all of them. */
    readonly limiter: RateLimiter
  }
  /** Default: the database is for real payments. */
  readonly isSandbox?: boolean
  /** Whether statements of traced requests get spans; default: false. */
  readonly isTraced?: boolean
  /** Default: nothing is measured. */
  readonly observer?: DatabaseObserver
  /** Null: limits are counted per process, and idempotency keys live in Postgres only. */
  readonly redisUrl: Secret | null
  /** Identifies the secret that this instance encrypts API keys with. */
  readonly keyCheckValue: Uint8Array
  /** It checks the previous secret; null without one. */
  readonly previousKeyCheckValue: Uint8Array | null
  /** For addresses that the migration could not convert. */
  readonly readMailbox: (email: string) => Mailbox
  /** Default: the table of the specification. */
  readonly tiers?: Tiers
  /** Limits the recount of a wallet's credit, for which a request waits; default: 1.5 s. */
  readonly recountTimeoutMs?: number
}

/** `read_only`: a standby, or a server that was set to refuse writes. */
type DatabaseState = 'ok' | 'read_only'

export interface Stores {
  readonly accounts: AccountStore
  readonly audit: AuditLog
  readonly journal: SettlementJournal
  readonly confirmedBlocks: ConfirmedBlocks
  readonly broadcastRetention: BroadcastRetention
  readonly overview: SettlementOverview
  readonly lanes: SignerLanes
  /** Processes with a recent heartbeat, this one included. */
  countInstances(): number
  /** Before a request that may pay or change anything, as an instance without requests rests. Null: there is nothing to wait for. */
  wake(): Promise<void> | null
  readonly idempotency: IdempotencyStore
  readonly webhooks: WebhookOutbox
  readonly feed: EventFeed
  readonly limiter: RateLimiter
  readonly quotas: Quotas
  readonly holds: Holds
  readonly signInNonces: SignInNonces
  readonly recipientStatements: RecipientStatements
  readonly uniqueAmounts: UniqueAmounts
  readonly channelCustody: ChannelCustody
  readonly sponsoringHistory: SponsoringHistory
  readonly streams: StreamStore
  readonly channelLedger: ChannelLedger
  readonly heldPayments: HeldPayments
  /** As the fields of the same names, for pages that are looked at: a flood of them must not delay payments. */
  readonly views: { readonly quotas: Quotas; readonly journal: Pick<SettlementJournal, 'find'> }
  readonly accountSettlements: AccountSettlements
  readonly statistics: Statistics
  /** Null unless the database is for the sandbox. */
  readonly sandbox: {
    readonly scenarios: SandboxScenarioStore
    readonly inboxes: SandboxInboxes
    readonly channels: SandboxChannelStore
  } | null
  readonly catalogue: DiscoveryCatalogue
  readonly creditStore: CreditStore
  readonly challenges: OwnerChallenges
  readonly reconciliation: ReconciliationStore
  /** With a connection of its own, and time for a large journal. */
  readonly nightlyReconciliation: ReconciliationStore
  readonly intents: IntentStore
  readonly jobLeases: JobLeases
  readonly work: WorkFinder
  readonly backfills: Backfills
  readonly pauses: PauseStore
  /** What only operators read and change. */
  readonly operator: {
    readonly records: OperatorRecords
    readonly overview: OverviewStore
    listPools(): readonly PoolState[]
  }
  /** Rejects when the database does not answer. */
  pingDatabase(): Promise<DatabaseState>
  /** Statements of payments time out, although the database may answer a ping. */
  isDatabaseSlow(): boolean
  /** `degraded`: Redis does not answer. Without Redis always `ok`. */
  pingLimiter(): Promise<'ok' | 'degraded'>
  close(): Promise<void>
}

export const listStoreChecks = ({
  pingDatabase,
  isDatabaseSlow,
  pingLimiter,
}: Pick<Stores, 'pingDatabase' | 'isDatabaseSlow' | 'pingLimiter'>): readonly ReadinessCheck[] => [
  {
    // All instances share the database: without this one, the others would be as slow.
    name: 'database',
    accepts: ['ok', 'slow'],
    probe: async () => {
      const state = await pingDatabase()
      return state === 'ok' && isDatabaseSlow() ? 'slow' : state
    },
  },
  {
    // Without Redis each process counts limits itself: no reason to stop routing to it.
    name: 'store',
    accepts: ['ok', 'degraded'],
    probe: pingLimiter,
  },
]
