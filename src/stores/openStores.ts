import { z } from 'zod'
import { withSignal } from '../concurrency/deadline.js'
import { createFailureLog } from '../failureLog.js'
import type { Secret } from '../platform/secret.js'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { RateLimiter } from '../ports/rateLimiter.js'
import { createAccountCache } from './cache/accountCache.js'
import { createDividedRateLimiter, createMemoryRateLimiter } from './cache/rateLimiter.js'
import { openDatabase } from './openDatabase.js'
import { listenForAccountChanges } from './postgres/accounts/accountChanges.js'
import { createAccountStore } from './postgres/accounts/accountStore.js'
import { createAuditLog } from './postgres/accounts/auditLog.js'
import { fillMailboxes } from './postgres/accounts/registerAccount.js'
import { createSealingKeyCheck } from './postgres/accounts/sealing.js'
import { createCreditStore } from './postgres/credit/creditStore.js'
import { migrateNamed } from './postgres/database/connectionProblem.js'
import { announceInstance, createJobLeases } from './postgres/database/instance.js'
import { mapDatabaseErrors, openPool, type PoolOptions } from './postgres/database/pool.js'
import { checkPurpose } from './postgres/database/purpose.js'
import { createDiscoveryCatalogue } from './postgres/discovery/discoveryCatalogue.js'
import { createOwnerChallenges } from './postgres/discovery/ownerChallenges.js'
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
import { createRecipientStatements, createUniqueAmounts } from './postgres/recipients/recipients.js'
import { createReconciliationStore } from './postgres/reconciliation/reconciliationStore.js'
import { createReservations } from './postgres/reservations/reservations.js'
import { createSandboxInboxes, createSandboxScenarios } from './postgres/sandbox/sandbox.js'
import { createSignInNonces } from './postgres/siwx/signInNonces.js'
import { createStatistics } from './postgres/statistics/statistics.js'
import { createStreamStore } from './postgres/streams/streamStore.js'
import { createEventFeed } from './postgres/webhooks/eventFeed.js'
import { createWebhookOutbox } from './postgres/webhooks/webhookOutbox.js'
import { type Circuit, createCircuit, createRedisOutage, openRedis, type Redis } from './redis/client.js'
import { createIdempotencyLease } from './redis/idempotencyLease.js'
import { createRedisRateLimiter } from './redis/rateLimiter.js'
import type { StoreSettings, Stores } from './stores.js'

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
