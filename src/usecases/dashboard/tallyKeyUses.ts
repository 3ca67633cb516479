import type { AccountStore } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'

// Beyond it, uses are not recorded until the next flush.
const maxTracked = 100_000

/** Remembers when keys were used, so that no request waits for a write. On failure the times are kept. */
export const createKeyUseTally = (accounts: Pick<AccountStore, 'recordKeyUses'>, clock: Clock) => {
  let pending = new Map<string, Date>()
  return {
    onUse: (keyId: string): void => {
      if (pending.size < maxTracked || pending.has(keyId)) pending.set(keyId, clock.now())
    },
    flush: async (): Promise<void> => {
      if (pending.size === 0) return
      const flushed = pending
      pending = new Map()
      try {
        await accounts.recordKeyUses(flushed)
      } catch (error) {
        pending = new Map([...flushed, ...pending])
        throw error
      }
    },
  }
}
