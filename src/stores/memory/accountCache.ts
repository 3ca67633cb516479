import type { Account, AccountStore } from '../../ports/accountStore.js'

export interface ChangeFeed {
  /** False when changes may have been missed. */
  isCurrent(): boolean
  onChange(listener: (accountId: string) => void): void
}

const maxCached = 10_000

/** Caches only while the change feed is current. Unknown keys are not cached: their number is unbounded. */
export const createAccountCache = (store: AccountStore, changes: ChangeFeed): AccountStore => {
  const accounts = new Map<string, Account>()
  const keysOf = new Map<string, Set<string>>()
  let generation = 0
  let wasCurrent = false

  const clear = (): void => {
    generation += 1
    accounts.clear()
    keysOf.clear()
  }

  const invalidate = (accountId: string): void => {
    // Also invalidates reads in progress: they may have started before the change.
    generation += 1
    for (const key of keysOf.get(accountId) ?? []) accounts.delete(key)
    keysOf.delete(accountId)
  }
  changes.onChange(invalidate)

  const isUsable = (): boolean => {
    const isCurrent = changes.isCurrent()
    if (wasCurrent && !isCurrent) clear()
    wasCurrent = isCurrent
    return isCurrent
  }

  const add = (key: string, account: Account): void => {
    if (accounts.size >= maxCached) clear()
    accounts.set(key, account)
    const keys = keysOf.get(account.id) ?? new Set()
    keysOf.set(account.id, keys.add(key))
  }

  const invalidateAfter = async <T>(accountId: string, change: Promise<T>): Promise<T> => {
    try {
      return await change
    } finally {
      // Also on failure: the change may have been committed and only its response lost.
      invalidate(accountId)
    }
  }

  return {
    ...store,
    findByKey: async (fingerprint) => {
      const key = Buffer.from(fingerprint).toString('base64')
      const known = isUsable() ? accounts.get(key) : undefined
      if (known !== undefined) return known
      const began = generation
      const account = await store.findByKey(fingerprint)
      if (account !== null && began === generation && isUsable()) add(key, account)
      return account
    },
    rotate: (id, from, key) => invalidateAfter(id, store.rotate(id, from, key)),
    setRestrictions: (id, restrictions) => invalidateAfter(id, store.setRestrictions(id, restrictions)),
    setTier: (id, tier) => invalidateAfter(id, store.setTier(id, tier)),
    revoke: (id) => invalidateAfter(id, store.revoke(id)),
  }
}
