import type { Clock } from '../../ports/clock.js'
import type { SettlementCounter } from '../../ports/settlementOverview.js'

interface Hour {
  readonly startedAtMs: number
  readonly reorged: Map<string, number>
  readonly lost: Map<string, number>
}

/** Reorgs that this process found in the last 24 hours, hour by hour. */
interface RecentReorgs extends SettlementCounter {
  read(network: string): { readonly reorged: number; readonly lost: number }
}

const hourMs = 3_600_000
const hoursKept = 24

export const createRecentReorgs = (clock: Pick<Clock, 'now'>): RecentReorgs => {
  let hours: readonly Hour[] = []

  const listRecent = (): readonly Hour[] => {
    const nowMs = clock.now().getTime()
    return hours.filter(({ startedAtMs }) => nowMs - startedAtMs < hourMs * hoursKept)
  }

  const findHour = (): Hour => {
    const nowMs = clock.now().getTime()
    const newest = hours.at(-1)
    if (newest !== undefined && Math.abs(nowMs - newest.startedAtMs) < hourMs) return newest
    const hour = { startedAtMs: nowMs, reorged: new Map<string, number>(), lost: new Map<string, number>() }
    hours = [...listRecent(), hour]
    return hour
  }

  const sum = (kind: 'reorged' | 'lost', network: string): number =>
    listRecent().reduce((total, hour) => total + (hour[kind].get(network) ?? 0), 0)

  const add = (counts: Map<string, number>, network: string): void => {
    counts.set(network, (counts.get(network) ?? 0) + 1)
  }

  return {
    countReorged: (network) => add(findHour().reorged, network),
    countLost: (network) => add(findHour().lost, network),
    read: (network) => ({ reorged: sum('reorged', network), lost: sum('lost', network) }),
  }
}
