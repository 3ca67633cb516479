import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.js'
import type { NetworkHealth } from './chains/chain.js'
import { listChainChecks } from './chains/common/readinessChecks.js'
import { signInFamilies } from './chains/index.js'
import { openChains } from './chains/openChains.js'
import { createWalletSignatures } from './chains/walletSignatures.js'
import { type Config, listFeatures } from './config.js'
import { listJobs, type NamedJob, shareJobs, startJobs } from './jobs.js'
import { createAddressBlocks } from './platform/addressBlocks.js'
import { systemClock } from './platform/clock.js'
import { createGuardedFetch } from './platform/guardedExchange.js'
import { createLogger } from './platform/logger.js'
import { openRegistration } from './platform/mailer.js'
import { createMetrics, type Metrics } from './platform/metrics.js'
import { openSealers } from './platform/openSealers.js'
import { createResourceProbe } from './platform/resourceProbe.js'
import { createSchemaValidator } from './platform/schemaValidator.js'
import { StartError } from './platform/startError.js'
import { description, version } from './platform/version.js'
import type { Clock } from './ports/clock.js'
import type { Job } from './ports/job.js'
import type { Logger } from './ports/logger.js'
import type { RateLimiter } from './ports/rateLimiter.js'
import type { WebhookTransport } from './ports/webhookOutbox.js'
import { listRequestLimits } from './protocol/requestLimits.js'
import { createSchemeRegistry, type SchemeRegistry } from './schemes/registry.js'
import { openStores } from './stores/openStores.js'
import { listStoreChecks } from './stores/stores.js'
import { createCore } from './usecases/core/index.js'
import type { StartSettleWait } from './usecases/core/settle/settlementContext.js'
import { createClaimRules } from './usecases/core/verify/claimRules.js'
import { createCredit } from './usecases/credit/index.js'
import { createDashboard } from './usecases/dashboard/index.js'
import { canonicalMailbox } from './usecases/dashboard/mails.js'
import { createDiscovery } from './usecases/discovery/index.js'
import { createIntents } from './usecases/intents/index.js'
import { createFindConfigured, createRecipients, type FindConfigured } from './usecases/recipients/index.js'
import { createReconciliation } from './usecases/reconciliation/index.js'
import { createInboxTransport, createSandbox } from './usecases/sandbox/index.js'
import { createSiwx } from './usecases/siwx/index.js'
import { createStats } from './usecases/stats/index.js'
import { createStreams } from './usecases/streams/index.js'
import type { UseCases } from './usecases/useCases.js'
import { createWebhooks } from './usecases/webhooks/index.js'

export interface Service {
  readonly app: FastifyInstance
  listNetworks(): readonly NetworkHealth[]
  /** Waits for running requests and jobs. Pending settlements are resolved after the next start. */
  close(): Promise<void>
}

/** The service without HTTP. */
export interface Core {
  readonly useCases: UseCases
  readonly jobs: readonly NamedJob[]
  readonly metrics: Metrics
  readonly limiter: RateLimiter
  listNetworks(): readonly NetworkHealth[]
  reconcileSettlements(stopped?: AbortSignal): Promise<void>
  detectReorgs(stopped?: AbortSignal): Promise<void>
  /** Returns a function that stops the jobs and waits for them. */
  startJobs(): () => Promise<void>
  close(): Promise<void>
}

export interface Environment {
  readonly clock: Clock
  readonly logger: Logger
  /** Process metrics (memory, event loop, garbage collection); default on. */
  readonly measuresProcess?: boolean
  /** Default: connects to public addresses, and to those of `WEBHOOK_ALLOW`. */
  readonly webhookTransport?: WebhookTransport
  readonly startSettleWait?: StartSettleWait
}

export const compose = async (
  config: Config,
  logger: Logger = createLogger({ level: config.logLevel }),
): Promise<Service> => {
  const core = await composeCore(config, { clock: systemClock, logger })
  const stopJobs = core.startJobs()
  const app = await composeApp(config, core, logger)
  return {
    app,
    listNetworks: core.listNetworks,
    close: async () => {
      await app.close()
      await stopJobs()
      await core.close()
    },
  }
}

export const composeApp = async (
  config: Config,
  core: Pick<Core, 'metrics' | 'useCases' | 'limiter'>,
  logger: Logger,
) =>
  await buildApp({
    settings: {
      ...config.server,
      metricsToken: config.metricsToken,
      operatorToken: config.operatorToken,
      accountOrigins: config.accounts.origins,
      apiKeyRequired: config.accounts.apiKeyRequired,
      isSandbox: config.sandbox !== 'off',
      tiers: config.tiers,
      settleWaitMs: config.settleWaitMs,
      readConnections: config.stores.databaseReadPoolSize,
    },
    logger,
    metrics: core.metrics,
    useCases: core.useCases,
    limits:
      config.requestLimits === null
        ? null
        : {
            limiter: core.limiter,
            table: listRequestLimits(config.requestLimits),
            clock: systemClock,
            tiers: config.tiers,
          },
  })

export const composeCore = async (config: Config, environment: Environment): Promise<Core> => {
  const { clock, logger, measuresProcess = true, webhookTransport } = environment
  const sealers = await openSealers(
    {
      ...config.accounts,
      dataFolder: config.stores.dataFolder,
      isDatabaseShared: config.stores.databaseUrl !== null,
    },
    logger,
  )
  const stores = await openStores(
    {
      ...config.stores,
      ...sealers,
      readMailbox: canonicalMailbox,
      tiers: config.tiers,
    },
    clock,
    logger,
  )
  const { limiter, lanes } = stores
  const { minPaymentGasShare, requiresCrossCheck, exactAmount } = config
  const scenarios = stores.sandbox?.scenarios
  const chains = await openChains(config.chains, {
    clock,
    logger,
    limiter,
    lanes,
    minPaymentGasShare,
    requiresCrossCheck,
    exactAmount,
    countPromised: stores.holds.countPromised,
    sponsoring: { recipients: config.sponsoredRecipients, history: stores.sponsoringHistory },
    ...(scenarios === undefined ? {} : { scenarios }),
  }).catch(async (error: unknown) => {
    await stores.close()
    throw error
  })
  const registry = createSchemeRegistry(chains.schemes)
  const metrics = createMetrics({
    kinds: registry.list().map(({ kind }) => kind),
    listNetworks: chains.health,
    isLimiterDegraded: limiter.isDegraded,
    measuresProcess,
  })
  if (config.webhooks.allow.length > 0) logger.warn(config.webhooks, 'webhooks.private_targets_allowed')
  if (config.sandbox !== 'off') {
    logger.warn({ sandbox: config.sandbox, hint: 'no payment of this instance is real' }, 'sandbox.enabled')
  }
  const registration = openRegistration(config.accounts, logger)

  const wallets = createWalletSignatures({
    families: signInFamilies,
    contractReaders: chains.contractReaders,
    logger,
  })
  const siwx = createSiwx({
    wallets,
    usedNonces: stores.signInNonces,
    sealer: sealers.sealerFor('sign-in-nonce'),
    clockToleranceSeconds: config.clockToleranceSeconds,
    clock,
  })
  const stats = createStats(stores.statistics, clock)
  const validators = { explained: createSchemaValidator(), settled: createSchemaValidator() }
  const discovery =
    config.discovery === null
      ? null
      : createDiscovery({
          catalogue: stores.catalogue,
          challenges: stores.challenges,
          probe: config.discovery.probe === null ? null : createResourceProbe(config.discovery.probe),
          verifyMessage: wallets.verifyMessage,
          validators,
          settings: config.discovery,
          clock,
          logger,
        })
  const schemes = [...new Set(registry.list().map(({ kind }) => kind.scheme))].sort()
  const features = { ...listFeatures(config), schemes }
  const findConfigured = await openConfiguredRecipients(config, registry, logger).catch(
    async (error: unknown) => {
      await chains.close()
      await stores.close()
      throw error
    },
  )
  const claimRules = createClaimRules({
    findStatement: async (recipient) =>
      findConfigured(recipient) ?? (await stores.recipientStatements.find(recipient)),
    uniqueAmounts: stores.uniqueAmounts,
    policy: config.exactDirect.claims,
  })
  const core = createCore({
    ...stores,
    claimRules,
    settings: config,
    service: { name: 'quittance', version, description, features },
    listLimitations: () => chains.health().flatMap(describeLimitations),
    registry,
    isServing: chains.isServing,
    extensions: [siwx.extension, ...(discovery === null ? [] : [discovery.extension])],
    checks: [...listStoreChecks(stores), ...listChainChecks(chains.health)],
    counter: metrics,
    clock,
    logger,
    ...(environment.startSettleWait === undefined ? {} : { startSettleWait: environment.startSettleWait }),
  })
  const reconciliation = createReconciliation({
    store: stores.reconciliation,
    nightlyStore: stores.nightlyReconciliation,
    journal: stores.journal,
    registry,
    gauges: metrics,
    clock,
    logger,
  })
  // A stream closes by the chains' time where this machine's clock is behind it.
  const streamClock: Clock = {
    sleep: clock.sleep,
    now: () => new Date(clock.now().getTime() + chains.getClockLagMs()),
  }
  const streams = createStreams({
    ...stores,
    core,
    registry,
    gauges: metrics,
    verifyDeadlineMs: config.verifyDeadlineMs,
    clock: streamClock,
    processClock: clock,
    logger,
  })
  const intents = createIntents({
    store: stores.intents,
    journal: stores.journal,
    idempotency: stores.idempotency,
    registry,
    isServing: chains.isServing,
    settleAuthorization: core.settleAuthorization,
    claimRules,
    clock,
    logger,
  })
  const credit = createCredit({ ...stores, registry, counter: metrics, clock, logger })
  const dashboard = createDashboard({
    ...stores,
    ...stores.views,
    sealer: sealers.sealerFor('api-key'),
    blocks: createAddressBlocks(),
    registration,
    mailer: registration.mailer,
    mailboxCaps: config.accounts,
    keyEnvironment: config.accounts.keyEnvironment,
    tiers: config.tiers,
    clock,
    logger,
    settlements: stores.accountSettlements,
    findWebhookUrl: async (accountId) => (await stores.webhooks.findEndpoint(accountId))?.url ?? null,
  })
  const recipients = createRecipients({
    registry,
    statements: stores.recipientStatements,
    findConfigured,
    usedNonces: stores.signInNonces,
    sealer: sealers.sealerFor('sign-in-nonce'),
    mailChange: dashboard.mailChange,
    clock,
  })
  const transport = webhookTransport ?? createGuardedFetch({ allow: config.webhooks.allow })
  const webhooks = createWebhooks({
    outbox: stores.webhooks,
    feed: stores.feed,
    audit: stores.audit,
    mailChange: dashboard.mailChange,
    transport: stores.sandbox === null ? transport : createInboxTransport(stores.sandbox.inboxes, transport),
    sealer: sealers.sealerFor('webhook-secret'),
    limiter,
    counter: metrics,
    clock,
    logger,
  })
  const sandbox =
    stores.sandbox === null || chains.sandbox === null
      ? null
      : createSandbox({
          ...stores.sandbox,
          chain: chains.sandbox,
          clock,
          catchUp: async () => {
            await core.catchUp(new AbortController().signal)
            await runOnce(webhooks.jobs.deliverWebhooks)
          },
        })
  const optional = [sandbox, discovery].filter((noun) => noun !== null)
  const jobs = listJobs([
    core,
    credit,
    dashboard,
    intents,
    reconciliation,
    siwx,
    stats,
    streams,
    webhooks,
    ...optional,
  ])

  return {
    useCases: {
      core: core.useCases,
      credit: credit.useCases,
      dashboard: dashboard.useCases,
      reconciliation: reconciliation.useCases,
      recipients: recipients.useCases,
      intents: intents.useCases,
      siwx: siwx.useCases,
      stats: stats.useCases,
      streams: streams.useCases,
      webhooks: webhooks.useCases,
      sandbox: sandbox?.useCases ?? null,
      discovery: discovery?.useCases ?? null,
    },
    jobs,
    metrics,
    limiter,
    listNetworks: chains.health,
    reconcileSettlements: (stopped) => runOnce(core.jobs.reconcileSettlements, stopped),
    detectReorgs: (stopped) => runOnce(core.jobs.detectReorgs, stopped),
    startJobs: () => startJobs(shareJobs(jobs, stores.jobLeases), clock, logger),
    close: async () => {
      await streams.close()
      await discovery?.close()
      await Promise.all([
        chains.close(),
        registration.mailer?.close(),
        ...Object.values(validators).map((validator) => validator.close()),
      ])
      await runOnce(stats.jobs.flushRequestStatistics).catch((error: unknown) =>
        logger.warn({ error }, 'statistics.write_failed'),
      )
      await runOnce(dashboard.jobs.recordKeyUses).catch((error: unknown) =>
        logger.warn({ error }, 'key_uses.write_failed'),
      )
      await stores.close()
    },
  }
}

const describeLimitations = ({ network, limitations = [] }: NetworkHealth) =>
  limitations.map((text) => ({ network, text }))

const openConfiguredRecipients = async (
  { exactDirect }: Config,
  registry: SchemeRegistry,
  logger: Logger,
): Promise<FindConfigured> => {
  if (exactDirect.claims === 'open' && registry.hasScheme('exact-direct')) {
    logger.warn(
      {
        variable: 'EXACT_DIRECT_CLAIMS',
        hint: 'any caller that sees a transaction can claim it, except where the recipient has stated otherwise',
      },
      'exact_direct.claims_open',
    )
  }
  try {
    return createFindConfigured(exactDirect.recipients, registry, logger)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    throw new StartError('EXACT_DIRECT_RECIPIENTS', problem, { cause: error })
  }
}

const runOnce = ({ run }: Job, stopped = new AbortController().signal): Promise<void> => run(stopped)
