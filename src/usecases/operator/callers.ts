import type { Clock } from '../../ports/clock.js'
import type { CallerReport } from '../../protocol/operatorOverview.js'
import type { AnsweredRequest, OperatorUseCases } from './useCases.js'

interface Measures {
  requests: number
  refused: number
  busyMs: number
}

interface Count extends Measures {
  readonly accountId: string | null
  readonly network: string | null
  settles: number
  readonly reasons: Map<string, number>
  /** The most that was forgotten of it before: it is ranked with that, so that floods of new callers cannot hide it. */
  readonly forgotten: Readonly<Measures>
}

/** The counts of ten minutes. */
interface Window {
  readonly startedAtMs: number
  readonly counts: Map<string, Count>
  /** The most that was forgotten of any caller; null: nothing was. */
  forgotten: Readonly<Measures> | null
}

const windowMs = 600_000
const windowsKept = 6
/** A window that is full keeps the callers that lead by one of the measures, and has room again. */
const maxCallers = 1_500
const keptPerMeasure = 250
// Reasons are names of ours, of which there are few; the bound is for defects.
const maxReasons = 40
const reasonsShown = 5

type Measure = keyof Measures

const none: Readonly<Measures> = { requests: 0, refused: 0, busyMs: 0 }
const measures: readonly Measure[] = ['requests', 'refused', 'busyMs']

/**
 * Counts who asks, is refused and occupies this process most. As in the space-saving algorithm, a caller that returns ranks
 * with what may have been forgotten of it: neither a flood of addresses nor early leaders keep it from the lists.
 */
export const createCallerCounts = (
  clock: Pick<Clock, 'now'>,
): Pick<OperatorUseCases, 'countCaller' | 'readCallers'> => {
  let windows: readonly Window[] = []

  const findWindow = (): Window => {
    const nowMs = clock.now().getTime()
    const newest = windows.at(-1)
    // The clock can be set back.
    if (newest !== undefined && Math.abs(nowMs - newest.startedAtMs) < windowMs) return newest
    const window = { startedAtMs: nowMs, counts: new Map<string, Count>(), forgotten: null }
    windows = [...windows.slice(1 - windowsKept), window]
    return window
  }

  const findCount = (window: Window, { accountId, network }: AnsweredRequest): Count => {
    const key = accountId ?? network
    const found = window.counts.get(key)
    if (found !== undefined) return found
    if (window.counts.size >= maxCallers) prune(window)
    const created = createCount(
      { accountId, network: accountId === null ? network : null },
      window.forgotten ?? none,
    )
    window.counts.set(key, created)
    return created
  }

  return {
    countCaller: (request) => {
      const count = findCount(findWindow(), request)
      count.requests += 1
      count.busyMs += request.durationMs
      if (request.isSettle) count.settles += 1
      if (request.reason === null) return
      count.refused += 1
      addReason(count, request.reason, 1)
    },

    readCallers: (limit): CallerReport => {
      const now = clock.now()
      const recent = windows.filter(
        ({ startedAtMs }) => Math.abs(now.getTime() - startedAtMs) < windowMs * windowsKept,
      )
      const sums = [...sumUp(recent).values()]
      const most = (measure: Measure) =>
        sums
          .filter((count) => count[measure] > 0)
          .toSorted((left, right) => right[measure] - left[measure])
          .slice(0, limit)
          .map(viewCount)
      return {
        from: new Date(recent[0]?.startedAtMs ?? now.getTime()).toISOString(),
        to: now.toISOString(),
        mostRequests: most('requests'),
        mostRefused: most('refused'),
        mostBusy: most('busyMs'),
        isComplete: recent.every(({ forgotten }) => forgotten === null),
      }
    },
  }
}

const createCount = (
  caller: Pick<Count, 'accountId' | 'network'>,
  forgotten: Readonly<Measures> = none,
): Count => ({ ...caller, ...none, settles: 0, reasons: new Map(), forgotten })

const addReason = ({ reasons }: Count, reason: string, times: number): void => {
  const known = reasons.get(reason)
  if (known !== undefined || reasons.size < maxReasons) reasons.set(reason, (known ?? 0) + times)
}

const prune = (window: Window): void => {
  const kept = new Set<Count>()
  const forgotten = { ...none }
  for (const measure of measures) {
    const rank = (count: Count) => count[measure] + count.forgotten[measure]
    const ranked = [...window.counts.values()].toSorted((left, right) => rank(right) - rank(left))
    for (const count of ranked.slice(0, keptPerMeasure)) kept.add(count)
    const [next] = ranked.slice(keptPerMeasure)
    forgotten[measure] = next === undefined ? 0 : rank(next)
  }
  for (const [key, count] of window.counts) if (!kept.has(count)) window.counts.delete(key)
  window.forgotten = forgotten
}

const sumUp = (windows: readonly Window[]): ReadonlyMap<string, Count> => {
  const sums = new Map<string, Count>()
  for (const { counts } of windows) {
    for (const [key, count] of counts) {
      const sum = sums.get(key) ?? createCount(count)
      sums.set(key, sum)
      sum.requests += count.requests
      sum.refused += count.refused
      sum.settles += count.settles
      sum.busyMs += count.busyMs
      for (const [reason, times] of count.reasons) addReason(sum, reason, times)
    }
  }
  return sums
}

const viewCount = ({ reasons, busyMs, forgotten: _, ...rest }: Count) => ({
  ...rest,
  busyMs: Math.round(busyMs),
  reasons: [...reasons]
    .map(([reason, count]) => ({ reason, count }))
    .toSorted((left, right) => right.count - left.count)
    .slice(0, reasonsShown),
})
