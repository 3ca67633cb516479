import { join } from 'node:path'
import { z } from 'zod'
import { withSignal } from '../concurrency/deadline.js'
import { createFailureLog } from '../failureLog.js'
import type { Secret } from '../platform/secret.js'
import { StartError } from '../platform/startError.js'
import type { AccountStore, AuditLog, Mailbox } from '../ports/accountStore.js'
import type { Clock } from '../ports/clock.js'
import type { CreditStore } from '../ports/creditStore.js'
import type { DiscoveryCatalogue, OwnerChallenges } from '../ports/discovery.js'
import type { IdempotencyStore } from '../ports/idempotencyStore.js'
import type { IntentStore } from '../ports/intentStore.js'
import type { JobLeases } from '../ports/job.js'
import type { Logger } from '../ports/logger.js'
import type { Quotas } from '../ports/quotas.js'
import type { RateLimiter } from '../ports/rateLimiter.js'
import type { RecipientStatements, UniqueAmounts } from '../ports/recipients.js'
import type { ReconciliationStore } from '../ports/reconciliation.js'
import type { Reservations } from '../ports/reservations.js'
import type { SandboxInboxes, SandboxScenarioStore } from '../ports/sandbox.js'
import type { ConfirmedBlocks, SettlementJournal } from '../ports/settlementJournal.js'
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
import { createAccountCache } from './cache/accountCache.js'
import { createDividedRateLimiter, createMemoryRateLimiter } from './cache/rateLimiter.js'
import { listenForAccountChanges } from './postgres/accounts/accountChanges.js'
import { createAccountStore } from './postgres/accounts/accountStore.js'
import { createAuditLog } from './postgres/accounts/auditLog.js'
import { fillMailboxes } from './postgres/accounts/fillMailboxes.js'
import { createSealingKeyCheck } from './postgres/accounts/sealingKeyCheck.js'
import { createCreditStore } from './postgres/credit/creditStore.js'
import { migrateNamed } from './postgres/database/connectionProblem.js'
import { announceInstance, createJobLeases } from './postgres/database/instance.js'
import { mapDatabaseErrors } from './postgres/database/mapDatabaseErrors.js'
import { openPool, type PoolOptions } from './postgres/database/pool.js'
import { checkPurpose } from './postgres/database/purpose.js'
import { findSandboxDatabase } from './postgres/database/sandboxDatabase.js'
import { createDiscoveryCatalogue } from './postgres/discovery/discoveryCatalogue.js'
import { createOwnerChallenges } from './postgres/discovery/ownerChallenges.js'
import { NoBinariesError } from './postgres/embedded/chooseLaunch.js'
import { startEmbeddedPostgres } from './postgres/embedded/startEmbeddedPostgres.js'
import { createIntentStore } from './postgres/intents/intentStore.js'
import { createConfirmedBlocks } from './postgres/journal/confirmedBlocks.js'
import { createIdempotencyStore } from './postgres/journal/idempotencyStore.js'
import { createSettlementJournal } from './postgres/journal/settlementJournal.js'
import {
  createAccountSettlements,
  createSettlementOverview,
  createSponsoringHistory,
} from './postgres/journal/settlementOverview.js'
import { createSignerLanes } from './postgres/lanes/signerLanes.js'
import { createQuotas } from './postgres/quota/quotas.js'
import { createRecipientStatements } from './postgres/recipients/recipientStatements.js'
import { createUniqueAmounts } from './postgres/recipients/uniqueAmounts.js'
import { createReconciliationStore } from './postgres/reconciliation/reconciliationStore.js'
import { createReservations } from './postgres/reservations/reservations.js'
import { createSandboxInboxes } from './postgres/sandbox/inboxes.js'
import { createSandboxScenarios } from './postgres/sandbox/scenarios.js'
import { createSignInNonces } from './postgres/siwx/signInNonces.js'
import { createStatistics } from './postgres/statistics/statistics.js'
import { createStreamStore } from './postgres/streams/streamStore.js'
import { createEventFeed } from './postgres/webhooks/eventFeed.js'
import { createWebhookOutbox } from './postgres/webhooks/webhookOutbox.js'
import { type Circuit, createCircuit } from './redis/circuit.js'
import { createRedisOutage, openRedis, type Redis } from './redis/client.js'
import { createIdempotencyLease } from './redis/idempotencyLease.js'
import { createRedisRateLimiter } from './redis/rateLimiter.js'

export interface StoreSettings {
  /** Null: the embedded database in `dataFolder`. */
  readonly databaseUrl: Secret | null
  readonly databasePoolSize: number
  /** For reads that may be slightly out of date, such as a replica; null: the database itself. */
  readonly databaseReadUrl: Secret | null
  readonly databaseReadPoolSize: number
  readonly dataFolder: string
  /** Default: the database is for real payments. */
  readonly isSandbox?: boolean
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
}

/** `read_only`: a standby, or a server that was set to refuse writes. */
type DatabaseState = 'ok' | 'read_only'

export interface Stores {
  readonly accounts: AccountStore
  readonly audit: AuditLog
  readonly journal: SettlementJournal
  readonly confirmedBlocks: ConfirmedBlocks
  readonly overview: SettlementOverview
  readonly lanes: SignerLanes
  readonly idempotency: IdempotencyStore
  readonly webhooks: WebhookOutbox
  readonly feed: EventFeed
  readonly limiter: RateLimiter
  readonly quotas: Quotas
  readonly reservations: Reservations
  readonly signInNonces: SignInNonces
  readonly recipientStatements: RecipientStatements
  readonly uniqueAmounts: UniqueAmounts
  readonly sponsoringHistory: SponsoringHistory
  readonly streams: StreamStore
  /** As the fields of the same names, for pages that are looked at: a flood of them must not delay payments. */
  readonly views: { readonly quotas: Quotas; readonly journal: Pick<SettlementJournal, 'find'> }
  readonly accountSettlements: AccountSettlements
  readonly statistics: Statistics
  /** Null unless the database is for the sandbox. */
  readonly sandbox: { readonly scenarios: SandboxScenarioStore; readonly inboxes: SandboxInboxes } | null
  readonly catalogue: DiscoveryCatalogue
  readonly creditStore: CreditStore
  readonly challenges: OwnerChallenges
  readonly reconciliation: ReconciliationStore
  /** With a connection of its own, and time for a large journal. */
  readonly nightlyReconciliation: ReconciliationStore
  readonly intents: IntentStore
  readonly jobLeases: JobLeases
  /** Rejects when the database does not answer. */
  pingDatabase(): Promise<DatabaseState>
  /** `degraded`: Redis does not answer. Without Redis always `ok`. */
  pingLimiter(): Promise<'ok' | 'degraded'>
  close(): Promise<void>
}

// With its own timeout, so that the connection to a silent server is discarded.
const ping = {
  text: `select current_setting('transaction_read_only') = 'on' as is_read_only`,
  query_timeout: 2_000,
}
const pingRows = z.tuple([z.object({ is_read_only: z.boolean() })])

const readTimeoutMs = 2_000
const auditTimeoutMs = 120_000
const auditQueueMs = 30_000
const nightlyTimeoutMs = 1_800_000

const maxScenarios = 10_000

export const migrationsFolder = new URL('../../migrations/', import.meta.url)

/** Opens and migrates the database, connects to Redis if configured; closes everything again on failure. */
export const openStores = async (settings: StoreSettings, clock: Clock, logger: Logger): Promise<Stores> => {
  const closers: (() => Promise<void>)[] = []
  let isClosing = false
  /** In reverse order; continues after a failure. */
  const close = async () => {
    isClosing = true
    for (const closer of closers.splice(0).reverse()) {
      await closer().catch((error: unknown) => logger.error({ error }, 'store.close_failed'))
    }
  }

  try {
    const { url, readUrl, ...database } = await openDatabase(settings, logger, closers)
    // All connections break at once when the server ends.
    const losses = createFailureLog({
      logger,
      event: 'database.connection_lost',
      recovered: 'database.connection_restored',
    })
    const pool = openPool({
      url,
      maxConnections: settings.databasePoolSize,
      onError: (error) => {
        // During shutdown, connections may be closed from either side.
        if (!isClosing) losses.failed('database', { error })
      },
    })
    pool.on('connect', () => losses.succeeded('database'))
    closers.push(() => pool.end())
    const readsName = settings.databaseReadUrl === null ? 'database' : 'reads'
    // Pages that are looked at have connections of their own, and little time.
    const reads = openPool({
      url: readUrl ?? url,
      maxConnections: settings.databaseReadPoolSize,
      statementTimeoutMs: readTimeoutMs,
      onError: (error) => {
        if (!isClosing) losses.failed(readsName, { error })
      },
    })
    reads.on('connect', () => losses.succeeded(readsName))
    closers.push(() => reads.end())
    const openAudits = (
      sizes: Pick<PoolOptions, 'maxConnections' | 'statementTimeoutMs' | 'connectionTimeoutMs'>,
    ) => {
      const audits = openPool({
        url: readUrl ?? url,
        ...sizes,
        onError: (error) => {
          if (!isClosing) losses.failed('audits', { error })
        },
      })
      closers.push(() => audits.end())
      return audits
    }
    // Requests of operators read the whole journal one after the other, and delay nothing else.
    const audits = openAudits({
      maxConnections: 1,
      statementTimeoutMs: auditTimeoutMs,
      connectionTimeoutMs: auditQueueMs,
    })
    // The nightly job can read for half an hour: operators do not queue behind it. One connection reads; the other one
    // cancels its statement when the service stops.
    const nightlyAudits = openAudits({ maxConnections: 2, statementTimeoutMs: nightlyTimeoutMs })
    const { applied } = await migrateNamed(pool, migrationsFolder, database.named)
    if (applied.length > 0) logger.info({ applied }, 'database.migrated')
    const isSandbox = settings.isSandbox === true
    const instance = await announceInstance(pool, logger, {
      isOnly: settings.databaseUrl === null,
      isSandbox,
    })
    closers.push(() => instance.close())
    const variable = settings.databaseUrl === null ? 'DATA_FOLDER' : 'DATABASE_URL'
    await checkPurpose(pool, { instanceId: instance.id, isSandbox, variable })
    await instance.admit()
    const sealing = createSealingKeyCheck(pool, settings.keyCheckValue, settings.previousKeyCheckValue)
    await sealing.check()
    await fillMailboxes(pool, settings.readMailbox)
    const inProcess = createMemoryRateLimiter({ clock })
    const redis = await openSharedRedis(settings.redisUrl, { clock, logger, closers })
    const limiter = openLimiter(redis, {
      isSandbox,
      inProcess,
      fallback: createDividedRateLimiter({ limiter: inProcess, countInstances: instance.countAlive }),
    })
    closers.push(() => limiter.close())
    const idempotencyRecord = createIdempotencyStore(pool, instance)
    const changes = listenForAccountChanges(pool, logger)
    closers.push(() => changes.close())
    const accounts = mapDatabaseErrors(createAccountStore(pool, () => sealing.claim(), settings.tiers))

    return {
      accounts: createAccountCache(accounts, changes),
      audit: mapDatabaseErrors(createAuditLog(pool)),
      journal: mapDatabaseErrors(createSettlementJournal(pool, instance)),
      confirmedBlocks: mapDatabaseErrors(createConfirmedBlocks(pool)),
      overview: mapDatabaseErrors(createSettlementOverview(reads)),
      lanes: mapDatabaseErrors(createSignerLanes(pool, instance)),
      idempotency:
        redis === null
          ? idempotencyRecord
          : createIdempotencyLease({
              ...redis,
              record: idempotencyRecord,
              // Its answers must not be replayed for real payments, which may be on the same server.
              ...(isSandbox ? { keyPrefix: 'quittance:sandbox:idempotency:' } : {}),
            }),
      webhooks: mapDatabaseErrors({
        ...createWebhookOutbox(pool),
        list: createWebhookOutbox(reads).list,
      }),
      feed: mapDatabaseErrors(createEventFeed(pool, readUrl === null ? reads : pool)),
      limiter,
      quotas: mapDatabaseErrors(createQuotas(pool)),
      reservations: mapDatabaseErrors(createReservations(pool)),
      signInNonces: mapDatabaseErrors(createSignInNonces(pool)),
      recipientStatements: mapDatabaseErrors(createRecipientStatements(pool)),
      uniqueAmounts: mapDatabaseErrors(createUniqueAmounts(pool)),
      sponsoringHistory: mapDatabaseErrors(createSponsoringHistory(pool)),
      streams: mapDatabaseErrors(createStreamStore(pool)),
      views: {
        quotas: mapDatabaseErrors(createQuotas(reads)),
        journal: mapDatabaseErrors(createSettlementJournal(reads, instance)),
      },
      accountSettlements: mapDatabaseErrors(createAccountSettlements(reads)),
      statistics: mapDatabaseErrors({
        ...createStatistics(reads),
        addRequests: createStatistics(pool).addRequests,
      }),
      sandbox: isSandbox
        ? {
            scenarios: mapDatabaseErrors(createSandboxScenarios(pool, maxScenarios)),
            inboxes: mapDatabaseErrors(createSandboxInboxes(pool)),
          }
        : null,
      catalogue: mapDatabaseErrors(createDiscoveryCatalogue(pool, reads)),
      challenges: mapDatabaseErrors(createOwnerChallenges(pool)),
      reconciliation: mapDatabaseErrors(createReconciliationStore(pool, audits)),
      nightlyReconciliation: mapDatabaseErrors(createReconciliationStore(pool, nightlyAudits)),
      intents: mapDatabaseErrors(createIntentStore(pool, reads)),
      creditStore: mapDatabaseErrors(createCreditStore(pool, readUrl === null ? reads : pool)),
      jobLeases: mapDatabaseErrors(createJobLeases(pool, instance)),
      pingDatabase: async () => {
        const { rows } = await withSignal(pool.query(ping), AbortSignal.timeout(ping.query_timeout))
        return pingRows.parse(rows)[0].is_read_only ? 'read_only' : 'ok'
      },
      pingLimiter: async () => {
        // Without requests nothing else notices that Redis is gone.
        await redis?.circuit.probe()
        return limiter.isDegraded() ? 'degraded' : 'ok'
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

interface OpenDatabase {
  readonly url: string
  /** Null: pages are read from the database itself. */
  readonly readUrl: string | null
  /** Of a server that operators named; null: the embedded one. */
  readonly named: Secret | null
}

const openDatabase = async (
  { databaseUrl, databaseReadUrl, dataFolder, isSandbox = false }: StoreSettings,
  logger: Logger,
  closers: (() => Promise<void>)[],
): Promise<OpenDatabase> => {
  if (databaseUrl !== null) {
    const own = { url: databaseUrl.reveal(), readUrl: databaseReadUrl?.reveal() ?? null, named: databaseUrl }
    return isSandbox ? await openSandboxDatabase(own, logger) : own
  }
  const embedded = await startEmbeddedPostgres({
    folder: join(dataFolder, 'postgres'),
    log: (line) => logger.debug({ line }, 'database.log'),
  }).catch(nameDataFolder)
  closers.push(() => embedded.stop())
  embedded.onExit((reason) => logger.error({ reason }, 'database.ended'))
  logger.info({ folder: dataFolder }, 'database.embedded')
  return { url: embedded.url, readUrl: null, named: null }
}

const openSandboxDatabase = async (
  given: OpenDatabase & { readonly named: Secret },
  logger: Logger,
): Promise<OpenDatabase> => {
  const { url, name, isApart, isBesidePayments } = await findSandboxDatabase(given.named, { creates: true })
  logger.info({ database: name }, 'sandbox.database')
  if (isBesidePayments) {
    logger.warn(
      { database: name, hint: 'DATABASE_URL holds real payments, which this instance does not serve' },
      'sandbox.beside_real_payments',
    )
  }
  // A replica that is named belongs to the other database.
  return isApart ? { url: url.reveal(), readUrl: null, named: url } : given
}

/** For `catch`: what the embedded database lacks is a matter of its folder, unless it is not installed at all. */
export const nameDataFolder = (cause: unknown): never => {
  const message = cause instanceof Error ? cause.message : String(cause)
  if (cause instanceof NoBinariesError) {
    throw new StartError('DATABASE_URL', `is missing, and there is no embedded database. ${message}`, {
      cause,
    })
  }
  const known = folderProblems.find(({ pattern }) => pattern.test(message))
  throw new StartError('DATA_FOLDER', known === undefined ? message : `${known.advice} (${message})`, {
    cause,
  })
}

// Words of Postgres and initdb.
const folderProblems: readonly { readonly pattern: RegExp; readonly advice: string }[] = [
  {
    pattern: /No space left on device|Disk quota exceeded|ENOSPC/,
    advice: 'the disk is full: free some space, or set DATA_FOLDER to another disk.',
  },
  {
    pattern: /Permission denied|Read-only file system|wrong ownership/,
    advice: 'the embedded Postgres may not write there: make its user the owner of all files in the folder.',
  },
]

interface SharedRedis {
  readonly redis: Redis
  readonly circuit: Circuit
}

const openSharedRedis = async (
  url: Secret | null,
  {
    clock,
    logger,
    closers,
  }: { readonly clock: Clock; readonly logger: Logger; readonly closers: (() => Promise<void>)[] },
): Promise<SharedRedis | null> => {
  if (url === null) return null
  const outage = createRedisOutage(logger)
  const redis = await openRedis(url.reveal(), { logger, outage })
  closers.push(async () => redis.disconnect())
  const circuit = createCircuit({ redis, clock, logger, outage })
  closers.push(async () => circuit.close())
  return { redis, circuit }
}

interface Limiters {
  readonly isSandbox: boolean
  readonly inProcess: RateLimiter
  readonly fallback: RateLimiter
}

const openLimiter = (redis: SharedRedis | null, { isSandbox, inProcess, fallback }: Limiters): RateLimiter =>
  redis === null
    ? inProcess
    : createRedisRateLimiter({
        ...redis,
        fallback,
        ...(isSandbox ? { keyPrefix: 'quittance:sandbox:limits:' } : {}),
      })
