import type { FastifyInstance } from 'fastify'
import { buildApp } from './app.js'
import type { NetworkHealth } from './chains/chain.js'
import { createNouns, type Nouns } from './compose/createNouns.js'
import { type Environment, openResources } from './compose/openResources.js'
import type { Config } from './config.js'
import { shareJobs, skipIdleRounds, startJobs } from './jobs.js'
import { systemClock } from './platform/clock.js'
import { createLogger } from './platform/logger.js'
import type { Metrics } from './platform/metrics.js'
import type { Logger } from './ports/logger.js'
import type { RateLimiter } from './ports/rateLimiter.js'
import type { Tracer } from './ports/tracer.js'
import { listRequestLimits } from './protocol/requestLimits.js'
import type { WorkerLink } from './workers/link.js'

export interface Service {
  readonly app: FastifyInstance
  listNetworks(): readonly NetworkHealth[]
  /** Not ready from now on, and serves for `SHUTDOWN_DELAY_SECONDS`, or until `skipped` aborts. Jobs run until `close`. */
  announceEnd(skipped: AbortSignal): Promise<void>
  /** Waits for running requests and jobs. Pending settlements are resolved after the next start. */
  close(): Promise<void>
}

/** The service without HTTP. */
export interface Core extends Pick<Nouns, 'useCases' | 'jobs' | 'reconcileSettlements' | 'detectReorgs'> {
  readonly metrics: Metrics
  readonly limiter: RateLimiter
  /** Null: nothing is traced. */
  readonly tracer: Tracer | null
  wake(): Promise<void> | null
  listNetworks(): readonly NetworkHealth[]
  /** Returns a function that stops the jobs and waits for them. */
  startJobs(): () => Promise<void>
  close(): Promise<void>
}

export const compose = async (
  config: Config,
  logger: Logger = createLogger({ level: config.logLevel }),
  link: WorkerLink | null = null,
): Promise<Service> => {
  const core = await composeCore(config, { clock: systemClock, logger, link })
  const stopJobs = core.startJobs()
  link?.answerMetrics(() => core.metrics.registry.getMetricsAsJSON())
  const app = await composeApp(config, core, logger, link)
  return {
    app,
    listNetworks: core.listNetworks,
    announceEnd: async (skipped) => {
      // Before it listens, nothing is sent to it.
      if (app.server.listening) await app.shutdown.announce(config.server.shutdownDelayMs, skipped)
    },
    close: async () => {
      await app.close()
      await stopJobs()
      await core.close()
    },
  }
}

export const composeApp = async (
  config: Config,
  core: Pick<Core, 'metrics' | 'useCases' | 'limiter' | 'tracer' | 'wake'>,
  logger: Logger,
  link: WorkerLink | null = null,
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
    ...(link === null ? {} : { readMetrics: link.readMetrics }),
    tracer: core.tracer,
    wake: core.wake,
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
  const { clock, logger } = environment
  const resources = await openResources(config, environment)
  const { stores, chains, metrics, tracer } = resources
  const nouns = createNouns(config, environment, resources)
  const close = async (): Promise<void> => {
    await nouns.close()
    await resources.closeConnections()
    await nouns.flush()
    await stores.close()
    await tracer?.close()
  }
  await nouns.prepare().catch(async (error: unknown) => {
    await close()
    throw error
  })
  return {
    useCases: nouns.useCases,
    jobs: nouns.jobs,
    metrics,
    limiter: stores.limiter,
    tracer,
    wake: stores.wake,
    listNetworks: chains.health,
    reconcileSettlements: nouns.reconcileSettlements,
    detectReorgs: nouns.detectReorgs,
    startJobs: () => {
      const jobs = skipIdleRounds(nouns.jobs, stores.work, nouns.rounds)
      return startJobs(shareJobs(jobs, stores.jobLeases, nouns.rounds), clock, logger)
    },
    close,
  }
}
