import { type Config, listFeatures } from '../config.js'
import { listJobs, type NamedJob, observeJobs } from '../jobs.js'
import { createAddressBlocks } from '../platform/addressBlocks.js'
import { createResourceProbe } from '../platform/resourceProbe.js'
import { description, version } from '../platform/version.js'
import type { Clock } from '../ports/clock.js'
import type { Job } from '../ports/job.js'
import { createCaptures } from '../usecases/captures/index.js'
import { createChannels } from '../usecases/channels/index.js'
import { createCore } from '../usecases/core/index.js'
import { createClaimRules } from '../usecases/core/verify/claimRules.js'
import { createHoldBinding } from '../usecases/core/verify/holdBinding.js'
import { createFindStreamed } from '../usecases/core/verify/streamedChannels.js'
import { createCredit } from '../usecases/credit/index.js'
import { createDashboard } from '../usecases/dashboard/index.js'
import { createDiscovery } from '../usecases/discovery/index.js'
import { createIntents } from '../usecases/intents/index.js'
import { createOperator } from '../usecases/operator/index.js'
import { createPauses } from '../usecases/operator/pauses.js'
import { createRecentReorgs } from '../usecases/operator/recentReorgs.js'
import { createRecipients } from '../usecases/recipients/index.js'
import { createReconciliation } from '../usecases/reconciliation/index.js'
import { createInboxTransport, createSandbox } from '../usecases/sandbox/index.js'
import { createSiwx } from '../usecases/siwx/index.js'
import { createStats } from '../usecases/stats/index.js'
import { createStreams } from '../usecases/streams/index.js'
import { createUpgrade } from '../usecases/upgrade/index.js'
import type { UseCases } from '../usecases/useCases.js'
import { createWebhooks } from '../usecases/webhooks/index.js'
import type { Environment, Resources } from './openResources.js'

export interface Nouns {
  readonly useCases: UseCases
  readonly jobs: readonly NamedJob[]
  readonly rounds: ReturnType<typeof observeJobs>['rounds']
  reconcileSettlements(stopped?: AbortSignal): Promise<void>
  detectReorgs(stopped?: AbortSignal): Promise<void>
  /** Reads what must be known before the first request. */
  prepare(): Promise<void>
  /** Ends what runs beside requests and jobs. */
  close(): Promise<void>
  /** Writes what was counted in memory. */
  flush(): Promise<void>
}

/** Assembles the nouns in the order in which one needs another. */
export const createNouns = (
  config: Config,
  { clock, logger, startSettleWait, patienceMs }: Environment,
  resources: Resources,
): Nouns => {
  const { sealers, stores, chains, registry, metrics, registration, findConfigured, wallets } = resources
  const { limiter, journal } = stores
  const { isServing } = chains
  const siwx = createSiwx({
    wallets,
    usedNonces: stores.signInNonces,
    sealer: sealers.sealerFor('sign-in-nonce'),
    clockToleranceSeconds: config.clockToleranceSeconds,
    clock,
  })
  const stats = createStats(stores.statistics, clock)
  const discovery =
    config.discovery === null
      ? null
      : createDiscovery({
          catalogue: stores.catalogue,
          challenges: stores.challenges,
          probe: config.discovery.probe === null ? null : createResourceProbe(config.discovery.probe),
          verifyMessage: wallets.verifyMessage,
          validators: resources.validators,
          settings: config.discovery,
          clock,
          logger,
        })
  const schemes = [...new Set(registry.list().map(({ kind }) => kind.scheme))].sort()
  const claimRules = createClaimRules({
    findStatement: async (recipient) =>
      findConfigured(recipient) ?? (await stores.recipientStatements.find(recipient)),
    uniqueAmounts: stores.uniqueAmounts,
    policy: config.exactDirect.claims,
  })
  const holdBinding = createHoldBinding({
    store: stores.heldPayments,
    findStatement: async (recipient) =>
      findConfigured(recipient) ?? (await stores.recipientStatements.find(recipient)),
  })
  const pauses = createPauses({ ...stores, store: stores.pauses, registry, gauge: metrics, logger })
  const findPause = pauses.find
  const reorgs = createRecentReorgs(clock)
  const core = createCore({
    ...stores,
    claimRules,
    holdBinding,
    findStreamed: createFindStreamed(stores.streams),
    findPause,
    settings: config,
    service: { name: 'quittance', version, description, features: { ...listFeatures(config), schemes } },
    listLimitations: resources.listLimitations,
    registry,
    isServing,
    extensions: [siwx.extension, ...(discovery === null ? [] : [discovery.extension])],
    checkReadiness: resources.checkReadiness,
    counter: {
      setOpenSettlements: metrics.setOpenSettlements,
      countReorged: (network) => {
        metrics.countReorged(network)
        reorgs.countReorged(network)
      },
      countLost: (network) => {
        metrics.countLost(network)
        reorgs.countLost(network)
      },
    },
    clock,
    logger,
    ...(patienceMs === undefined ? {} : { stateDeadlineMs: patienceMs, journalDeadlineMs: patienceMs }),
    ...(startSettleWait === undefined ? {} : { startSettleWait }),
  })
  const reconciliation = createReconciliation({
    store: stores.reconciliation,
    nightlyStore: stores.nightlyReconciliation,
    journal,
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
    findPause,
    gauges: metrics,
    verifyDeadlineMs: config.verifyDeadlineMs,
    unsignedForMs: config.streamUnsignedForMs,
    clock: streamClock,
    processClock: clock,
    logger,
  })
  const intents = createIntents({
    store: stores.intents,
    journal,
    idempotency: stores.idempotency,
    registry,
    isServing,
    settleAuthorization: core.settleAuthorization,
    claimRules,
    findPause,
    ...(patienceMs === undefined ? {} : { deadlineMs: patienceMs }),
    clock,
    logger,
  })
  const channels = createChannels({
    ledger: stores.channelLedger,
    journal,
    registry,
    settleAuthorization: core.settleAuthorization,
    gauges: metrics,
    clock,
    logger,
    ...(patienceMs === undefined ? {} : { gatherMs: patienceMs }),
  })
  const captures = createCaptures({
    store: stores.heldPayments,
    registry,
    settleAuthorization: core.settleAuthorization,
    gauges: metrics,
    accounts: stores.accounts,
    tiers: config.tiers,
    warnedBeforeMs: config.holdWarnedBeforeMs,
    actsBeforeMs: config.holdActsBeforeMs,
    ...(patienceMs === undefined ? {} : { readDeadlineMs: patienceMs }),
    waitMs: config.settleWaitMs,
    clock: streamClock,
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
  const { webhookTransport } = resources
  const webhooks = createWebhooks({
    outbox: stores.webhooks,
    feed: stores.feed,
    audit: stores.audit,
    mailChange: dashboard.mailChange,
    transport:
      stores.sandbox === null
        ? webhookTransport
        : createInboxTransport(stores.sandbox.inboxes, webhookTransport),
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
  const operator = createOperator({
    pauses,
    reorgs,
    accounts: stores.accounts,
    records: stores.operator.records,
    overview: stores.operator.overview,
    gauges: metrics,
    pingDatabase: stores.pingDatabase,
    report: {
      version,
      limiter: {
        store: config.stores.redisUrl === null ? 'memory' : 'redis',
        isDegraded: limiter.isDegraded,
      },
      listNetworks: chains.health,
      listPools: stores.operator.listPools,
      listJobs: () => observed.listStates(),
    },
    redeliver: webhooks.useCases.redeliver,
    tiers: config.tiers,
    clock,
  })
  const upgrade = createUpgrade({ ...stores, clock, logger })
  const optional = [sandbox, discovery].filter((noun) => noun !== null)

  const observed = observeJobs(
    listJobs([
      core,
      channels,
      captures,
      credit,
      dashboard,
      intents,
      operator,
      reconciliation,
      siwx,
      stats,
      streams,
      upgrade,
      webhooks,
      ...optional,
    ]),
    clock,
  )
  metrics.measureJobs(observed.listStates)

  return {
    useCases: {
      core: resources.traces === null ? core.useCases : resources.traces.wrapUseCases(core.useCases),
      channels: channels.useCases,
      credit: credit.useCases,
      dashboard: dashboard.useCases,
      operator: operator.useCases,
      reconciliation: reconciliation.useCases,
      recipients: recipients.useCases,
      intents: intents.useCases,
      captures: captures.useCases,
      siwx: siwx.useCases,
      stats: stats.useCases,
      streams: streams.useCases,
      webhooks: webhooks.useCases,
      sandbox: sandbox?.useCases ?? null,
      discovery: discovery?.useCases ?? null,
    },
    jobs: observed.jobs,
    rounds: observed.rounds,
    prepare: pauses.refresh,
    reconcileSettlements: (stopped) => runOnce(core.jobs.reconcileSettlements, stopped),
    detectReorgs: (stopped) => runOnce(core.jobs.detectReorgs, stopped),
    close: async () => {
      await Promise.all([streams.close(), captures.close()])
      await discovery?.close()
    },
    flush: async () => {
      await runOnce(stats.jobs.flushRequestStatistics).catch((error: unknown) =>
        logger.warn({ error }, 'statistics.write_failed'),
      )
      await runOnce(dashboard.jobs.recordKeyUses).catch((error: unknown) =>
        logger.warn({ error }, 'key_uses.write_failed'),
      )
    },
  }
}

const runOnce = ({ run }: Job, stopped = new AbortController().signal): Promise<void> => run(stopped)
