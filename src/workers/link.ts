import { createMicroBatcher } from '../concurrency/microBatcher.js'
import { Secret } from '../platform/secret.js'
import type { Clock } from '../ports/clock.js'
import type { LimitWindow, RateLimiter, RateLimitResult } from '../ports/rateLimiter.js'
import {
  checkWindows,
  createDividedRateLimiter,
  createMemoryRateLimiter,
} from '../stores/cache/rateLimiter.js'
import { type Calls, createCalls } from './calls.js'
import type { Start, ToSupervisor, ToWorker } from './messages.js'

type StopListener = (options: { readonly announces: boolean }) => void

/** What a worker shares with the others through their supervisor. */
export interface WorkerLink {
  /** The embedded database; null: `DATABASE_URL`. */
  readonly embeddedUrl: Secret | null
  /** Whether no worker was ready before it. */
  readonly isFirst: boolean
  readonly workerCount: number
  /** Counts for all workers. While the supervisor does not answer, each counts its share of the limits. */
  readonly limiter: RateLimiter
  /** Those of all workers, as text. Rejects if the supervisor does not answer. */
  readMetrics(): Promise<string>
  /** Called for each scrape of any worker. */
  answerMetrics(list: () => Promise<unknown>): void
  reportReady(): void
  /** Called once or more, also for what came before. */
  onStop(listener: StopListener): void
}

const takeDeadlineMs = 1_000
const metricsDeadlineMs = 5_000
// As many windows as one message may have; a message costs more than what it carries.
const maxTakes = 256

/** For a process that a supervisor started. */
export const connectToSupervisor = async (clock: Clock): Promise<WorkerLink> => {
  const takes = createCalls<readonly RateLimitResult[]>(takeDeadlineMs)
  const scrapes = createCalls<string>(metricsDeadlineMs)
  let listMetrics: (() => Promise<unknown>) | null = null
  let stop: StopListener | null = null
  let wanted: { readonly announces: boolean } | null = null
  const start = await new Promise<Start>((resolve) => {
    process.on('message', (message: ToWorker) => {
      if (message.kind === 'start') resolve(message)
      else if (message.kind === 'taken') takes.answer(message.id, message.results)
      else if (message.kind === 'metrics') scrapes.answer(message.id, message.text)
      else if (message.kind === 'stop') {
        wanted = message
        stop?.(message)
      } else if (message.kind === 'metrics_wanted') {
        const { id } = message
        void listMetrics?.().then((metrics) => send({ kind: 'own_metrics', id, metrics }))
      }
    })
    send({ kind: 'connected' })
  })
  return {
    embeddedUrl: start.embeddedUrl === null ? null : new Secret(start.embeddedUrl),
    isFirst: start.isFirst,
    workerCount: start.workerCount,
    limiter: createLinkedLimiter({ calls: takes, send, clock, workerCount: start.workerCount }),
    readMetrics: () => scrapes.call((id) => send({ kind: 'read_metrics', id })),
    answerMetrics: (list) => {
      listMetrics = list
    },
    reportReady: () => send({ kind: 'ready' }),
    onStop: (listener) => {
      stop = listener
      // It was asked while it started.
      if (wanted !== null) listener(wanted)
    },
  }
}

/** Without a supervisor this process ends at once, and nothing it says matters. */
const send = (message: ToSupervisor): void => {
  if (process.connected) process.send?.(message, undefined, undefined, () => undefined)
}

interface Take {
  readonly windows: readonly LimitWindow[]
  resolve(result: RateLimitResult): void
}

/** It never resolves if the supervisor never answers. */
type Late = Promise<RateLimitResult | undefined>

interface LinkedLimiterOptions {
  readonly calls: Calls<readonly RateLimitResult[]>
  readonly send: (message: ToSupervisor) => void
  readonly clock: Clock
  readonly workerCount: number
}

export const createLinkedLimiter = ({
  calls,
  send,
  clock,
  workerCount,
}: LinkedLimiterOptions): RateLimiter => {
  const own = createDividedRateLimiter({
    limiter: createMemoryRateLimiter({ clock }),
    countInstances: () => workerCount,
  })
  /** It holds, by the result, what the supervisor answers late, if it was asked. */
  const takenHere = new WeakMap<RateLimitResult, Late | null>()
  let isDegraded = false
  let askedAtMs = Number.NEGATIVE_INFINITY

  const refundLate = (windows: readonly LimitWindow[], late: Late | null): void => {
    void late?.then((taken) => {
      if (taken?.isAllowed === true) send({ kind: 'refund', windows, taken })
    })
  }
  /** A take that is allowed here, and late by the supervisor, stays counted there, so that the other workers see it. */
  const takeHere = async ({ windows, resolve }: Take, late: Late | null): Promise<void> => {
    const result = await own.take(windows)
    takenHere.set(result, late)
    if (!result.isAllowed) refundLate(windows, late)
    resolve(result)
  }
  const batcher = createMicroBatcher<Take>({
    maxItems: () => maxTakes,
    run: async (takes) => {
      const nowMs = performance.now()
      // One batch each second asks a supervisor that did not answer, so that no other waits for it.
      if (isDegraded && nowMs - askedAtMs < takeDeadlineMs) {
        for (const take of takes) await takeHere(take, null)
        return
      }
      askedAtMs = nowMs
      let onLate: (results: readonly RateLimitResult[]) => void = () => undefined
      const late = new Promise<readonly RateLimitResult[]>((resolve) => {
        onLate = resolve
      })
      try {
        const windows = takes.map((take) => take.windows)
        const results = await calls.call((id) => send({ kind: 'take', id, takes: windows }), onLate)
        isDegraded = false
        for (const [at, result] of results.entries()) takes[at]?.resolve(result)
      } catch {
        isDegraded = true
        for (const [at, take] of takes.entries()) {
          await takeHere(
            take,
            late.then((results) => results[at]),
          )
        }
      }
    },
  })
  return {
    take: async (windows) => {
      checkWindows(windows)
      return await new Promise((resolve) => batcher.add({ windows, resolve }))
    },
    refund: async (windows, taken) => {
      const late = takenHere.get(taken)
      if (late === undefined) {
        send({ kind: 'refund', windows, taken })
        return
      }
      refundLate(windows, late)
      await own.refund(windows, taken)
    },
    isDegraded: () => isDegraded,
    close: () => own.close(),
  }
}
