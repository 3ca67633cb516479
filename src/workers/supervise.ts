import cluster, { type Worker } from 'node:cluster'
import type { Config } from '../config.js'
import { foldCounters, mergeMetrics } from '../platform/mergeMetrics.js'
import { holdingPreload } from '../platform/youngGeneration.js'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import { createMemoryRateLimiter } from '../stores/cache/rateLimiter.js'
import { startEmbeddedDatabase } from '../stores/postgres/openDatabase.js'
import { createCalls } from './calls.js'
import { supervisedVariable, type ToSupervisor, type ToWorker } from './messages.js'

interface SupervisorOptions {
  readonly config: Config
  /** The file that each worker runs. */
  readonly program: string
  /** Variables of this process. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly logger: Logger
  readonly clock: Clock
}

interface StopOptions {
  readonly announces: boolean
}

export interface Supervisor {
  /** False: the first worker ended before it was ready, and said why. */
  readonly isStarted: boolean
  /** Asks all workers to end; `announces`: after what a load balancer needs to notice. */
  stopWorkers(options: StopOptions): void
  /** Ends when all workers have ended. */
  close(options: StopOptions): Promise<void>
}

const firstPauseMs = 1_000
const longestPauseMs = 30_000
// One that lived for less may have ended by what the next one meets at once, such as a job.
const healthyMs = 60_000
// Less than `main.ts` waits for the supervisor, and more than a worker needs.
const killMarginMs = 20_000
const metricsDeadlineMs = 2_000
// A merge takes longer the more workers there are, and this process hands over every connection.
const sharedMetricsMs = 1_000
// For glibc, which otherwise raises the threshold to the largest block that was freed, such as the source of a script, and
// then keeps what later ones of that size leave: 10 MB of a start. A setting of the operator goes first.
const memorySettings = { MALLOC_MMAP_THRESHOLD_: '131072' }
// Beside its pools a process has connections for its heartbeat, for notifications and for audits; and commands have some.
const connectionsBesidePools = 8
const reservedConnections = 10

/**
 * Runs workers, which share one port. The first one is alone until it is ready, because it makes what all of them use: the
 * schema, and secrets of the data folder. A worker that ends is replaced; what it had open is resolved by the others, as when
 * an instance dies.
 */
export const superviseWorkers = async ({
  config,
  program,
  environment,
  logger,
  clock,
}: SupervisorOptions): Promise<Supervisor> => {
  const { stores, workers: count } = config
  const database =
    stores.databaseUrl === null
      ? await startEmbeddedDatabase(stores.dataFolder, logger, {
          max_connections: String(
            reservedConnections +
              count * (stores.databasePoolSize + stores.databaseReadPoolSize + connectionsBesidePools),
          ),
        })
      : null
  const limiter = createMemoryRateLimiter({ clock })
  const metrics = createMetricsReader()
  /** With what resolves when each has ended. */
  const running = new Map<Worker, Promise<void>>()
  let isClosing = false
  let pauseMs = firstPauseMs

  cluster.setupPrimary({
    exec: program,
    execArgv: [...process.execArgv, '--import', holdingPreload],
    args: [],
    serialization: 'advanced',
  })

  /** Null: no process could be made. */
  const fork = (): Worker | null => {
    try {
      return cluster.fork({ ...memorySettings, ...environment, [supervisedVariable]: 'true' })
    } catch (error) {
      logger.error({ error }, 'worker.ended')
      return null
    }
  }

  const answer = async (worker: Worker, message: ToSupervisor): Promise<void> => {
    switch (message.kind) {
      case 'take': {
        const results = await Promise.all(message.takes.map((windows) => limiter.take(windows)))
        return send(worker, { kind: 'taken', id: message.id, results })
      }
      case 'refund':
        return await limiter.refund(message.windows, message.taken)
      case 'read_metrics':
        return send(worker, {
          kind: 'metrics',
          id: message.id,
          text: await metrics.read([...running.keys()]),
        })
      case 'own_metrics':
        return metrics.receive(message.id, message.metrics)
    }
  }

  /** Resolves to whether it became ready. */
  const start = async (isFirst: boolean): Promise<boolean> => {
    const worker = fork()
    if (worker === null) {
      if (!isFirst) void replace(0)
      return false
    }
    const startedAt = performance.now()
    let isReady = false
    const ready = new Promise<void>((resolve) => {
      worker.on('message', (message: ToSupervisor) => {
        if (message.kind === 'connected') {
          const embeddedUrl = database?.url ?? null
          send(worker, { kind: 'start', embeddedUrl, isFirst, workerCount: count })
          // It has missed the request.
          if (isClosing) send(worker, { kind: 'stop', announces: false })
        } else if (message.kind === 'ready') {
          isReady = true
          resolve()
        } else {
          answer(worker, message).catch((error: unknown) => logger.error({ error }, 'worker.unanswered'))
        }
      })
    })
    const ended = new Promise<void>((resolve) => {
      const end = (fields: Readonly<Record<string, unknown>>): void => {
        if (!running.delete(worker)) return
        metrics.keep(worker)
        resolve()
        if (isClosing || (isFirst && !isReady)) return
        logger.error({ worker: worker.process.pid, ...fields, wasReady: isReady }, 'worker.ended')
        void replace(isReady ? performance.now() - startedAt : 0)
      }
      worker.once('exit', (code, signal) => end({ code, signal }))
      // Where no process could be made there is no exit.
      worker.on('error', (error) => {
        if (worker.process.pid === undefined) end({ error })
      })
    })
    running.set(worker, ended)
    await Promise.race([ready, ended])
    return isReady
  }

  const replace = async (livedMs: number): Promise<void> => {
    if (livedMs >= healthyMs) {
      pauseMs = firstPauseMs
    } else {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    }
    if (!isClosing) await start(false)
  }

  const stopWorkers = ({ announces }: StopOptions): void => {
    isClosing = true
    for (const worker of running.keys()) send(worker, { kind: 'stop', announces })
  }

  const close = async (options: StopOptions): Promise<void> => {
    const ends = [...running.values()]
    stopWorkers(options)
    const graceMs = config.server.shutdownDelayMs + config.settleWaitMs + killMarginMs
    const killing = setTimeout(() => {
      for (const worker of running.keys()) worker.process.kill('SIGKILL')
    }, graceMs)
    await Promise.all(ends)
    clearTimeout(killing)
    await database?.stop()
    await limiter.close()
  }

  const isStarted = await start(true)
  if (isStarted) for (let more = 1; more < count; more += 1) void start(false)
  else await close({ announces: false })
  return { isStarted, stopWorkers, close }
}

const send = (worker: Worker, message: ToWorker): void => {
  // One that ends meanwhile needs no message.
  if (worker.isConnected()) worker.send(message, () => undefined)
}

/**
 * Merges what workers count. Of one that does not answer in time, and of those that have ended, the last answer counts:
 * a counter that went back would be taken for a restart. Scrapes of one second share an answer.
 */
const createMetricsReader = () => {
  const calls = createCalls<unknown>(metricsDeadlineMs)
  const newest = new Map<Worker, unknown>()
  let ended: Promise<unknown> = Promise.resolve([])
  let shared: { readonly text: Promise<string>; readonly readAtMs: number } | null = null

  const ask = async (worker: Worker): Promise<unknown> => {
    const answer = await calls.call((id) => send(worker, { kind: 'metrics_wanted', id })).catch(() => null)
    if (answer !== null) newest.set(worker, answer)
    return answer ?? newest.get(worker) ?? []
  }

  const merge = async (workers: readonly Worker[]): Promise<string> =>
    await mergeMetrics([await ended, ...(await Promise.all(workers.map(ask)))])

  return {
    receive: calls.answer,
    /** What a worker that has ended counted. */
    keep: (worker: Worker): void => {
      const counted = newest.get(worker) ?? []
      newest.delete(worker)
      ended = ended.then((earlier) => foldCounters([earlier, counted]))
    },
    read: (workers: readonly Worker[]): Promise<string> => {
      const now = performance.now()
      if (shared === null || now - shared.readAtMs > sharedMetricsMs) {
        shared = { text: merge(workers), readAtMs: now }
        shared.text.catch(() => {
          shared = null
        })
      }
      return shared.text
    },
  }
}
