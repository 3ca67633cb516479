import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.js'
import type { ChainContext, NetworkHealth, OpenChain } from './chains/chain.js'
import { summarizeBalanceLevels } from './chains/common/balanceLevel.js'
import type { Config, EnabledChain } from './config.js'
import { listJobs, startJobs } from './jobs.js'
import { createAddressBlocks } from './platform/addressBlocks.js'
import { systemClock } from './platform/clock.js'
import { createGuardedFetch } from './platform/guardedFetch.js'
import { createLogger } from './platform/logger.js'
import { createMailer } from './platform/mailer.js'
import { createMetrics, type Metrics } from './platform/metrics.js'
import { createSealers, type Sealers } from './platform/sealer.js'
import { getSealingSecret } from './platform/sealingSecret.js'
import { description, version } from './platform/version.js'
import type { Clock } from './ports/clock.js'
import type { Logger } from './ports/logger.js'
import type { RateLimiter } from './ports/rateLimiter.js'
import type { WebhookTransport } from './ports/webhookTransport.js'
import { listRequestLimits } from './protocol/requestLimits.js'
import { createSchemeRegistry } from './schemes/registry.js'
import { openStores, type Stores } from './stores/openStores.js'
import { createCheckReadiness } from './usecases/core/checkReadiness.js'
import { createConcurrencyLimits } from './usecases/core/concurrencyLimits.js'
import { createDetectReorgs } from './usecases/core/detectReorgs.js'
import { createGetSettlement } from './usecases/core/getSettlement.js'
import { createListSettlements } from './usecases/core/listSettlements.js'
import { createListSupported } from './usecases/core/listSupported.js'
import { createMeasureOpenSettlements } from './usecases/core/measureOpenSettlements.js'
import { createQuotaGate } from './usecases/core/quotaGate.js'
import { createReconcileSettlements } from './usecases/core/reconcileSettlements.js'
import { createSettleAuthorization } from './usecases/core/settleAuthorization.js'
import { createSettlePayment } from './usecases/core/settlePayment.js'
import { createSpendingLimits } from './usecases/core/spendingLimits.js'
import { createVerifyPayment } from './usecases/core/verifyPayment.js'
import { createDashboard } from './usecases/dashboard/createDashboard.js'
import type { Registration } from './usecases/dashboard/registration.js'
import { createReadStatistics } from './usecases/stats/readStatistics.js'
import { createRequestTally } from './usecases/stats/tallyRequests.js'
import type { UseCases } from './usecases/useCases.js'
import { createWebhookUseCases } from './usecases/webhooks/createWebhookUseCases.js'
import { createDeliverWebhooks } from './usecases/webhooks/deliverWebhooks.js'
import { createSendWebhook } from './usecases/webhooks/sendWebhook.js'

/** The service, ready to listen. */
export interface Service {
  readonly app: FastifyInstance
  /** Lets what runs finish, then closes everything; what is still pending belongs to the next start. */
  close(): Promise<void>
}

/** The service without its HTTP side. */
export interface Core {
  readonly useCases: UseCases
  readonly metrics: Metrics
  readonly limiter: RateLimiter
  /** How each network does at this moment. */
  listNetworks(): readonly NetworkHealth[]
  /** One round of the reconciler; the signal ends it early. */
  reconcileSettlements(stopped?: AbortSignal): Promise<void>
  /** One round of looking after the blocks of confirmed payments. */
  detectReorgs(stopped?: AbortSignal): Promise<void>
  /** Starts the timed work and answers how to stop it. */
  startJobs(): () => Promise<void>
  close(): Promise<void>
}

/** What the outside world is made of. */
export interface Environment {
  readonly clock: Clock
  readonly logger: Logger
  /** Memory, event loop and garbage collection of this process; on unless told. */
  readonly measuresProcess?: boolean
  /** What reaches webhooks; guarded, and the internet's addresses only, unless a test brings its own. */
  readonly webhookTransport?: WebhookTransport
}

const resolveDeadlineMs = 15_000

/** Builds the service from its configuration. */
export const compose = async (config: Config): Promise<Service> => {
  const logger = createLogger({ level: config.logLevel })
  const core = await composeCore(config, { clock: systemClock, logger })
  const stopJobs = core.startJobs()
  const app = await buildApp({
    settings: {
      trustProxy: config.server.trustProxy,
      maxPaymentBodyBytes: config.server.maxPaymentBodyBytes,
      operatorToken: config.operatorToken,
      accountOrigins: config.accounts.origins,
      apiKeyRequired: config.accounts.apiKeyRequired,
    },
    logger,
    metrics: core.metrics,
    useCases: core.useCases,
    limits:
      config.requestLimits === null
        ? null
        : { limiter: core.limiter, table: listRequestLimits(config.requestLimits), clock: systemClock },
  })
  return {
    app,
    close: async () => {
      await app.close()
      await stopJobs()
      await core.close()
    },
  }
}

/** Opens stores and chains and wires the use cases. */
export const composeCore = async (config: Config, surroundings: Environment): Promise<Core> => {
  const { clock, logger, measuresProcess = true, webhookTransport = createGuardedFetch() } = surroundings
  const sealers = await openSealers(config, logger)
  const stores = await openStores({ ...config.stores, sealingMark: sealers.keyCheckValue }, clock, logger)
  let chains: readonly OpenChain[]
  try {
    chains = await openChains(config.chains, { clock, logger, lanes: stores.lanes, limiter: stores.limiter })
  } catch (error) {
    await stores.close()
    throw error
  }
  if (chains.length === 0) {
    logger.warn(
      {},
      'No chain is configured: the service starts and supports nothing. Set EVM_PRIVATE_KEY, SOLANA_PRIVATE_KEY, TON_MNEMONIC or TRON_RPC_URL_mainnet.',
    )
  }

  const { journal, confirmedBlocks, overview, limiter, idempotency, accounts, quotas, statistics } = stores
  const registration = openRegistration(config, logger)
  const registry = createSchemeRegistry(chains.flatMap(({ schemes }) => schemes))
  const readHealth = () => chains.flatMap((chain) => chain.health())
  const metrics = createMetrics({
    kinds: registry.list().map(({ kind }) => kind),
    listNetworks: readHealth,
    isLimiterDegraded: limiter.isDegraded,
    measuresProcess,
  })
  const isServing = (network: string) =>
    readHealth().find((health) => health.network === network)?.isServing ?? false

  const limits = createSpendingLimits(limiter, clock, config.spending)
  const settleAuthorization = createSettleAuthorization({
    registry,
    journal,
    limits,
    concurrency: createConcurrencyLimits(config.concurrency),
    clock,
    logger,
    waitMs: config.settleWaitMs,
  })
  const reconcileSettlements = createReconcileSettlements({
    registry,
    journal,
    counter: metrics,
    logger,
    deadlineMs: resolveDeadlineMs,
  })
  const detectReorgs = createDetectReorgs({
    registry,
    blocks: confirmedBlocks,
    counter: metrics,
    clock,
    logger,
    deadlineMs: resolveDeadlineMs,
  })
  const measureOpenSettlements = createMeasureOpenSettlements(overview, metrics.setOpenSettlements)
  const tally = createRequestTally(statistics)
  const sealer = sealers.sealerFor('webhook-secret')
  const sendWebhook = createSendWebhook({ transport: webhookTransport, sealer, clock })
  return {
    useCases: {
      webhooks: createWebhookUseCases({
        outbox: stores.webhooks,
        transport: webhookTransport,
        sealer,
        sendWebhook,
        clock,
      }),
      core: {
        verifyPayment: createVerifyPayment({
          registry,
          journal,
          quotaGate: createQuotaGate({ quotas, clock, logger }),
          logger,
          deadlineMs: config.verifyDeadlineMs,
        }),
        settlePayment: createSettlePayment({ idempotency, settleAuthorization, logger }),
        ...createGetSettlement(journal),
        listSettlements: createListSettlements({ overview, journal, clock }),
        listSupported: createListSupported(registry, isServing),
        checkReadiness: createCheckReadiness(listChecks(stores, readHealth)),
        describeService: () => ({ name: 'quittance', version, description, features: listFeatures(config) }),
      },
      dashboard: createDashboard({
        accounts,
        quotas,
        sealer: sealers.sealerFor('api-key'),
        blocks: createAddressBlocks(),
        limiter,
        registration,
        clock,
        logger,
        settlements: stores.accountSettlements,
        journal,
        findWebhookUrl: async (accountId) => (await stores.webhooks.findEndpoint(accountId))?.url ?? null,
      }),
      stats: { countRequest: tally.countRequest, ...createReadStatistics(statistics, clock) },
    },
    metrics,
    limiter,
    listNetworks: readHealth,
    reconcileSettlements: (stopped = new AbortController().signal) => reconcileSettlements(stopped),
    detectReorgs: (stopped = new AbortController().signal) => detectReorgs(stopped),
    startJobs: () =>
      startJobs(
        listJobs({
          reconcileSettlements,
          detectReorgs,
          deliverWebhooks: createDeliverWebhooks({
            outbox: stores.webhooks,
            sendWebhook,
            counter: metrics,
            logger,
          }),
          measureOpenSettlements,
          purgeIdempotencyKeys: idempotency.purge,
          flushRequestStatistics: tally.flush,
          purgeWebhookDeliveries: stores.webhooks.purge,
        }),
        clock,
        logger,
      ),
    close: async () => {
      const mailer = registration.mode === 'verified' ? registration.mailer : null
      await Promise.all([...chains.map((chain) => chain.close()), mailer?.close()])
      await tally.flush().catch((error: unknown) => logger.warn({ error }, 'statistics.write_failed'))
      await stores.close()
    },
  }
}

/** What API keys are encrypted with: the operator's secret, else one that stays in the data folder. */
const openSealers = async ({ accounts, stores }: Config, logger: Logger): Promise<Sealers> => {
  if (accounts.keyEncryptionSecret !== null) return createSealers(accounts.keyEncryptionSecret)
  if (stores.databaseUrl !== null) {
    logger.warn(
      { folder: stores.dataFolder },
      'API keys are encrypted with a secret of this data folder, which no other instance has. Set KEY_ENCRYPTION_SECRET.',
    )
  }
  return createSealers(await getSealingSecret(stores.dataFolder))
}

/** Says at the start who is shown full keys. */
const openRegistration = ({ accounts }: Config, logger: Logger): Registration => {
  const { registration: mode, apiKeyRequired, mail } = accounts
  const fields = { registration: mode, apiKeyRequired }
  switch (mode) {
    case 'once':
      logger.info(
        fields,
        'Registration is once: a full key is shown to the caller that creates it, later only to programs on this machine and with OPERATOR_TOKEN. A proxy on this machine must set X-Forwarded-For.',
      )
      return { mode }
    case 'open':
      logger.warn(
        fields,
        'Registration is open: every caller is shown the full keys of any e-mail address. Set REGISTRATION=once unless every caller is trusted.',
      )
      return { mode }
    case 'verified':
      if (mail === null) throw new Error('REGISTRATION=verified needs SMTP_URL and MAIL_FROM.')
      logger.info(fields, 'Registration is verified: keys go by mail.')
      return { mode, mailer: createMailer(mail, logger) }
  }
}

/** All enabled families at once; one that cannot open stops the start and is named. */
const openChains = (families: readonly EnabledChain[], context: ChainContext): Promise<OpenChain[]> =>
  Promise.all(
    families.map(async ({ namespace, open }) => {
      try {
        return await open(context)
      } catch (cause) {
        const reason = cause instanceof Error ? cause.message : 'unknown error'
        throw new Error(`The chain family ${namespace} cannot open: ${reason}`, { cause })
      }
    }),
  )

const listChecks = ({ pingDatabase, limiter }: Stores, readHealth: () => readonly NetworkHealth[]) => [
  {
    name: 'database',
    accepts: ['ok'],
    ask: async () => {
      await pingDatabase()
      return 'ok'
    },
  },
  {
    // Limits go on in the process while a shared store is down, so that is no reason to send callers away.
    name: 'store',
    accepts: ['ok', 'degraded'],
    ask: async () => (limiter.isDegraded() ? 'degraded' : 'ok'),
  },
  {
    name: 'rpc',
    accepts: ['ok', 'none'],
    ask: async () => {
      const health = readHealth()
      if (health.length === 0) return 'none'
      return health.some(({ isRpcReachable }) => isRpcReachable) ? 'ok' : 'unreachable'
    },
  },
  {
    // Our other instances have the same wallets, and what is pending must be told even when nothing can be sent.
    name: 'gas',
    accepts: balanceLevels,
    ask: async () => summarizeBalanceLevels(readHealth()),
  },
  ...readHealth().map(({ network }) => ({
    name: `gas:${network}`,
    accepts: balanceLevels,
    ask: async () => readHealth().find((health) => health.network === network)?.balanceLevel ?? 'unknown',
  })),
]

const balanceLevels = ['ok', 'low', 'empty', 'unknown', 'none']

const listFeatures = (config: Config): Record<string, boolean> => ({
  ...Object.fromEntries(config.chains.map(({ namespace }) => [namespace, true])),
  idempotency: true,
  sharedLimits: config.stores.redisUrl !== null,
})
