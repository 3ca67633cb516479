import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import { createCustodyCache } from './cache/custodyCache.js'
import { createMemoryRateLimiter } from './cache/rateLimiter.js'
import { openAccounts } from './postgres/accounts/index.js'
import { createChannelCustody } from './postgres/channels/channelCustody.js'
import { createChannelLedger } from './postgres/channels/channelLedger.js'
import { createCreditStore } from './postgres/credit/creditStore.js'
import { createBackfills } from './postgres/database/backfills.js'
import { mapDatabaseErrors } from './postgres/database/databaseErrors.js'
import { createJobLeases, leaseMemoryMs } from './postgres/database/instance.js'
import { createWorkFinder } from './postgres/database/workFinder.js'
import { createDiscoveryCatalogue } from './postgres/discovery/discoveryCatalogue.js'
import { createOwnerChallenges } from './postgres/discovery/ownerChallenges.js'
import { createHeldPayments } from './postgres/heldPayments/heldPayments.js'
import { createHolds } from './postgres/holds/holds.js'
import { createIntentStore } from './postgres/intents/intentStore.js'
import { createIdempotencyStore } from './postgres/journal/idempotencyStore.js'
import { openJournal } from './postgres/journal/index.js'
import { createSignerLanes } from './postgres/lanes/signerLanes.js'
import { type Closing, openDatabase, pingDatabase } from './postgres/openDatabase.js'
import { createOverviewStore } from './postgres/operator/operatorOverview.js'
import { createPauseStore } from './postgres/operator/operatorPauses.js'
import { createOperatorRecords } from './postgres/operator/operatorRecords.js'
import { createRecipientStatements, createUniqueAmounts } from './postgres/recipients/recipients.js'
import { createReconciliationStore } from './postgres/reconciliation/reconciliationStore.js'
import { createSandboxChannels } from './postgres/sandbox/channels.js'
import { createSandboxInboxes, createSandboxScenarios } from './postgres/sandbox/sandbox.js'
import { createSignInNonces } from './postgres/siwx/signInNonces.js'
import { createStatistics } from './postgres/statistics/statistics.js'
import { createStreamStore } from './postgres/streams/streamStore.js'
import { createEventFeed } from './postgres/webhooks/webhookEvents.js'
import { createWebhookOutbox } from './postgres/webhooks/webhookOutbox.js'
import { openSharedStores } from './redis/index.js'
import { migrationsFolder, type StoreSettings, type Stores } from './stores.js'

const maxScenarios = 10_000
const maxChannels = 10_000

/** Opens and migrates the database, connects to Redis if configured; closes everything again on failure. */
export const openStores = async (settings: StoreSettings, clock: Clock, logger: Logger): Promise<Stores> => {
  const closing: Closing = { closers: [], isClosing: false }
  const { closers } = closing
  const close = async () => {
    closing.isClosing = true
    for (const closer of closers.splice(0).reverse()) {
      await closer().catch((error: unknown) => logger.error({ error }, 'store.close_failed'))
    }
  }

  try {
    const isSandbox = settings.isSandbox === true
    const database = await openDatabase(settings, logger, closing)
    const { pool, reads, newestReads, audits, nightlyAudits, instance } = database
    const accounts = await openAccounts(database, settings, { logger, closers })
    const shared = await openSharedStores({
      url: settings.redisUrl,
      limiter: settings.worker?.limiter ?? createMemoryRateLimiter({ clock }),
      isSandbox,
      record: createIdempotencyStore(pool, instance),
      // The limiter of workers counts for all of them.
      countInstances: () => Math.ceil(instance.countAlive() / (settings.worker?.workerCount ?? 1)),
      clock,
      logger,
      closers,
    })
    return {
      ...accounts,
      ...shared,
      ...openJournal(database),
      lanes: mapDatabaseErrors(createSignerLanes(pool, instance)),
      countInstances: instance.countAlive,
      wake: instance.heartbeat.wake,
      webhooks: mapDatabaseErrors({ ...createWebhookOutbox(pool), list: createWebhookOutbox(reads).list }),
      feed: mapDatabaseErrors(createEventFeed(pool, newestReads)),
      holds: mapDatabaseErrors(createHolds(pool)),
      signInNonces: mapDatabaseErrors(createSignInNonces(pool)),
      recipientStatements: mapDatabaseErrors(createRecipientStatements(pool)),
      uniqueAmounts: mapDatabaseErrors(createUniqueAmounts(pool)),
      channelCustody: createCustodyCache(mapDatabaseErrors(createChannelCustody(pool))),
      streams: mapDatabaseErrors(createStreamStore(pool)),
      channelLedger: mapDatabaseErrors(createChannelLedger(pool, reads)),
      heldPayments: mapDatabaseErrors(createHeldPayments(pool, reads)),
      statistics: mapDatabaseErrors({
        ...createStatistics(reads),
        addRequests: createStatistics(pool).addRequests,
      }),
      sandbox: isSandbox
        ? {
            scenarios: mapDatabaseErrors(createSandboxScenarios(pool, maxScenarios)),
            inboxes: mapDatabaseErrors(createSandboxInboxes(pool)),
            channels: mapDatabaseErrors(createSandboxChannels(pool, maxChannels)),
          }
        : null,
      catalogue: mapDatabaseErrors(createDiscoveryCatalogue(pool, reads)),
      challenges: mapDatabaseErrors(createOwnerChallenges(pool)),
      reconciliation: mapDatabaseErrors(createReconciliationStore(pool, audits)),
      nightlyReconciliation: mapDatabaseErrors(createReconciliationStore(pool, nightlyAudits)),
      intents: mapDatabaseErrors(createIntentStore(pool, reads)),
      creditStore: mapDatabaseErrors(createCreditStore(pool, newestReads, settings)),
      jobLeases: mapDatabaseErrors(createJobLeases(pool, instance, leaseMemoryMs)),
      work: createWorkFinder(pool, instance.heartbeat),
      backfills: mapDatabaseErrors(createBackfills(pool, migrationsFolder)),
      pauses: mapDatabaseErrors(createPauseStore(pool, instance.heartbeat)),
      operator: {
        records: mapDatabaseErrors(createOperatorRecords(pool, newestReads, settings.tiers)),
        overview: mapDatabaseErrors(createOverviewStore(reads)),
        listPools: database.listPools,
      },
      pingDatabase: () => pingDatabase(pool),
      isDatabaseSlow: database.isSlow,
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
