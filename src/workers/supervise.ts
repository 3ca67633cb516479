import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import type { Config } from '../config.js'
import { mergeMetrics } from '../platform/mergeMetrics.js'
import type { Clock } from '../ports/clock.js'
import type { Logger } from '../ports/logger.js'
import { createMemoryRateLimiter } from '../stores/cache/rateLimiter.js'
import { startEmbeddedDatabase } from '../stores/postgres/openDatabase.js'
import type { ToSupervisor, ToWorker } from './messages.js'

interface SupervisorOptions {
  readonly config: Config
  /** The file that each worker runs. */
  readonly program: string
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
const metricsDeadlineMs = 2_000
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
  const running = new Set<Worker>()
  let isClosing = false
  let pauseMs = firstPauseMs

  cluster.setupPrimary({ exec: program, args: [], serialization: 'advanced' })

  const answer = async (worker: Worker, message: ToSupervisor): Promise<void> => {
    switch (message.kind) {
      case 'take': {
        const results = await Promise.all(message.takes.map((windows) => limiter.take(windows)))
        return send(worker, { kind: 'taken', id: message.id, results })
      }
      case 'refund':
        return await limiter.refund(message.windows, message.taken)
      case 'read_metrics':
        return send(worker, { kind: 'metrics', id: message.id, text: await metrics.read(running) })
      case 'own_metrics':
        return metrics.receive(message.id, message.metrics)
    }
  }

  /** Resolves to whether it became ready. */
  const start = async (isFirst: boolean): Promise<boolean> => {
    const worker = cluster.fork()
    running.add(worker)
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
          pauseMs = firstPauseMs
          resolve()
        } else {
          answer(worker, message).catch((error: unknown) => logger.error({ error }, 'worker.unanswered'))
        }
      })
    })
    const ended = once(worker, 'exit').then(([code, signal]) => {
      running.delete(worker)
      if (isClosing || (isFirst && !isReady)) return
      logger.error({ worker: worker.process.pid, code, signal, wasReady: isReady }, 'worker.ended')
      void replace(isReady)
    })
    await Promise.race([ready, ended])
    return isReady
  }

  const replace = async (wasReady: boolean): Promise<void> => {
    if (!wasReady) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
      pauseMs = Math.min(2 * pauseMs, longestPauseMs)
    }
    if (!isClosing) await start(false)
  }

  const stopWorkers = ({ announces }: StopOptions): void => {
    isClosing = true
    for (const worker of running) send(worker, { kind: 'stop', announces })
  }

  const close = async (options: StopOptions): Promise<void> => {
    const ends = [...running].map((worker) => once(worker, 'exit'))
    stopWorkers(options)
    await Promise.all(ends)
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

/** Merges what workers count. One that does not answer in time is left out. */
const createMetricsReader = () => {
  const waiting = new Map<number, (metrics: unknown) => void>()
  let last = 0
  return {
    receive: (id: number, metrics: unknown): void => waiting.get(id)?.(metrics),
    read: async (workers: ReadonlySet<Worker>): Promise<string> => {
      const parts = await Promise.all(
        [...workers].map((worker) => {
          last += 1
          const id = last
          return new Promise<unknown>((resolve) => {
            const timer = setTimeout(() => resolve(null), metricsDeadlineMs)
            waiting.set(id, (metrics) => {
              clearTimeout(timer)
              resolve(metrics)
            })
            send(worker, { kind: 'metrics_wanted', id })
          }).finally(() => waiting.delete(id))
        }),
      )
      return await mergeMetrics(parts.filter((metrics) => metrics !== null))
    },
  }
}
