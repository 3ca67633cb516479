import { setNewest } from '../../concurrency/boundedMap.js'

interface SlotSettings {
  readonly quick: number
  readonly slow: number
  /** An attempt without an answer for this long, and its account, count as slow. */
  readonly slowAfterMs: number
}

interface Attempt {
  readonly accountId: string
  readonly startedAtMs: number
  isSlow: boolean
}

/**
 * Concurrent attempts in two shares. Hanging attempts leave the quick share while the slow one has room, and the
 * accounts of slow receivers use only the slow share until an attempt is answered quickly again.
 */
interface DeliverySlots {
  countFree(share: 'quick' | 'slow'): number
  listSlowAccounts(): readonly string[]
  begin(accountId: string, share: 'quick' | 'slow'): Attempt
  end(attempt: Attempt): void
  /** Moves what hangs out of the quick share. */
  moveSlow(): void
}

// The one that was slow longest ago counts as quick again. Bounds memory and the lists in statements.
const maxSlowAccounts = 2_000

export const createDeliverySlots = ({ quick, slow, slowAfterMs }: SlotSettings): DeliverySlots => {
  const slowAccounts = new Map<string, true>()
  const underWay = new Set<Attempt>()
  const countSlow = (): number => [...underWay].filter(({ isSlow }) => isSlow).length

  const isLate = ({ startedAtMs }: Attempt): boolean => performance.now() - startedAtMs >= slowAfterMs
  const markSlow = (accountId: string): void => setNewest(slowAccounts, accountId, true, maxSlowAccounts)

  return {
    countFree: (share) => {
      const slowCount = countSlow()
      return share === 'slow' ? slow - slowCount : quick - (underWay.size - slowCount)
    },
    listSlowAccounts: () => [...slowAccounts.keys()],
    begin: (accountId, share) => {
      const attempt = { accountId, startedAtMs: performance.now(), isSlow: share === 'slow' }
      underWay.add(attempt)
      return attempt
    },
    end: (attempt) => {
      underWay.delete(attempt)
      if (isLate(attempt)) markSlow(attempt.accountId)
      else slowAccounts.delete(attempt.accountId)
    },
    moveSlow: () => {
      let room = slow - countSlow()
      // Oldest first.
      for (const attempt of underWay) {
        if (attempt.isSlow || !isLate(attempt)) continue
        markSlow(attempt.accountId)
        if (room <= 0) continue
        attempt.isSlow = true
        room -= 1
      }
    },
  }
}
