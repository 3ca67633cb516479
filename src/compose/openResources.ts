import type { NetworkHealth } from '../chains/chain.js'
import { listChainChecks } from '../chains/common/readinessChecks.js'
import { signInFamilies } from '../chains/index.js'
import { openChains } from '../chains/openChains.js'
import { createWalletSignatures } from '../chains/walletSignatures.js'
import type { Config } from '../config.js'
import { createDatabaseMetrics } from '../platform/databaseMetrics.js'
import { createGuardedFetch } from '../platform/guardedExchange.js'
import { openRegistration } from '../platform/mailer.js'
import { createMetrics } from '../platform/metrics.js'
import { openSealers } from '../platform/openSealers.js'
import { createSchemaValidator } from '../platform/schemaValidator.js'
import { StartError } from '../platform/startError.js'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import type { Tracer } from '../ports/tracer.js'
import type { WebhookTransport } from '../ports/webhookOutbox.js'
import { createSchemeRegistry, type SchemeRegistry } from '../schemes/registry.js'
import { openStores } from '../stores/openStores.js'
import { listStoreChecks } from '../stores/stores.js'
import { createCheckReadiness } from '../usecases/core/describe/listSupported.js'
import type { StartSettleWait } from '../usecases/core/settle/settlementContext.js'
import { canonicalMailbox } from '../usecases/dashboard/mails.js'
import { createFindConfigured, type FindConfigured } from '../usecases/recipients/index.js'
import type { WorkerLink } from '../workers/link.js'
import { createPaymentTraces } from './tracePayments.js'

export interface Environment {
  readonly clock: Clock
  readonly logger: Logger
  /** Process metrics (memory, event loop, garbage collection); default on. */
  readonly measuresProcess?: boolean
  /** Default: connects to public addresses, and to those of `WEBHOOK_ALLOW`. */
  readonly webhookTransport?: WebhookTransport
  readonly startSettleWait?: StartSettleWait
  /** It replaces, in milliseconds, short limits that pass where a busy machine stands still. */
  readonly patienceMs?: number
  /** Null or absent: this is the only process of the service. */
  readonly link?: WorkerLink | null
}

export type Resources = Awaited<ReturnType<typeof openResources>>

/** Opens what the nouns work on: secrets, stores, chains, metrics and what reaches other machines. */
export const openResources = async (config: Config, environment: Environment) => {
  const { clock, logger, measuresProcess = true, webhookTransport, link = null, patienceMs } = environment
  const sealers = await openSealers(
    {
      ...config.accounts,
      dataFolder: config.stores.dataFolder,
      isDatabaseShared: config.stores.databaseUrl !== null,
    },
    logger,
  )
  const tracer = await openTracer(config, logger, patienceMs)
  const traces = tracer === null ? null : createPaymentTraces(tracer)
  const database = createDatabaseMetrics()
  const opened = await openStores(
    {
      ...config.stores,
      ...sealers,
      readMailbox: canonicalMailbox,
      tiers: config.tiers,
      isTraced: tracer !== null,
      ...(link === null ? {} : { worker: link }),
      ...(link === null || link.embeddedUrl === null ? {} : { embeddedUrl: link.embeddedUrl }),
      observer: database.observer,
      ...(patienceMs === undefined ? {} : { recountTimeoutMs: patienceMs }),
    },
    clock,
    logger,
  )
  const stores =
    traces === null
      ? opened
      : {
          ...opened,
          journal: traces.wrapJournal(opened.journal),
          lanes: traces.wrapLanes(opened.lanes),
        }
  const { limiter, lanes } = stores
  const { minPaymentGasShare, requiresCrossCheck, exactAmount } = config
  const chains = await openChains(config.chains, {
    clock,
    logger,
    limiter,
    lanes,
    countInstances: stores.countInstances,
    minPaymentGasShare,
    requiresCrossCheck,
    exactAmount,
    countPromised: stores.holds.countPromised,
    channelCustody: stores.channelCustody,
    channelLedger: stores.channelLedger,
    sponsoring: { recipients: config.sponsoredRecipients, history: stores.sponsoringHistory },
    ...(stores.sandbox === null
      ? {}
      : { scenarios: stores.sandbox.scenarios, channels: stores.sandbox.channels }),
  }).catch(async (error: unknown) => {
    await stores.close()
    throw error
  })
  const registry = createSchemeRegistry(
    traces === null ? chains.schemes : chains.schemes.map(traces.wrapScheme),
  )
  const checkReadiness = createCheckReadiness(
    [...listStoreChecks(stores), ...listChainChecks(chains.health)],
    clock,
  )
  const metrics = createMetrics({
    kinds: registry.list().map(({ kind }) => kind),
    listNetworks: chains.health,
    database,
    listPools: stores.operator.listPools,
    isLimiterDegraded: limiter.isDegraded,
    isReady: async () => (await checkReadiness()).status === 'ready',
    measuresProcess,
  })
  if (config.webhooks.allow.length > 0) logger.warn(config.webhooks, 'webhooks.private_targets_allowed')
  if (config.sandbox !== 'off') {
    logger.warn({ sandbox: config.sandbox, hint: 'no payment of this instance is real' }, 'sandbox.enabled')
  }
  const registration = await openRegistration(config.accounts, logger)
  const findConfigured = await openConfiguredRecipients(config, registry, logger).catch(
    async (error: unknown) => {
      await chains.close()
      await stores.close()
      throw error
    },
  )
  const transport = webhookTransport ?? createGuardedFetch({ allow: config.webhooks.allow })
  const patient = patienceMs === undefined ? {} : { deadlineMs: patienceMs }
  const validators = { explained: createSchemaValidator(patient), settled: createSchemaValidator(patient) }
  return {
    sealers,
    tracer,
    traces,
    stores,
    chains,
    registry,
    metrics,
    checkReadiness,
    registration,
    findConfigured,
    validators,
    wallets: createWalletSignatures({
      families: signInFamilies,
      contractReaders: chains.contractReaders,
      logger,
    }),
    webhookTransport: traces === null ? transport : traces.wrapTransport(transport),
    listLimitations: () => chains.health().flatMap(describeLimitations),
    /** Closes all but the stores, which what is closed here may still write to. */
    closeConnections: async (): Promise<void> => {
      await Promise.all([
        chains.close(),
        registration.mailer?.close(),
        ...Object.values(validators).map((validator) => validator.close()),
      ])
    },
  }
}

/** Its code is loaded only where a collector is configured. */
const openTracer = async (
  { tracing }: Config,
  logger: Logger,
  patienceMs?: number,
): Promise<Tracer | null> => {
  if (tracing === null) return null
  const { createTracer } = await import('../platform/tracer/createTracer.js')
  return createTracer(tracing, logger, patienceMs === undefined ? {} : { closeMs: patienceMs })
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
