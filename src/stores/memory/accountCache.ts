import type { AccountStore, KeyUse } from '../../ports/accountStore.js'

export interface ChangeFeed {
  /** False when changes may have been missed. */
  isCurrent(): boolean
  onChange(listener: (accountId: string) => void): void
}

const maxCached = 10_000

/** Caches only while the change feed is current. Unknown keys are not cached: their number is unbounded. */
export const createAccountCache = (store: AccountStore, changes: ChangeFeed): AccountStore => {
  const uses = new Map<string, KeyUse>()
  const keysOf = new Map<string, Set<string>>()
  let generation = 0
  let wasCurrent = false

  const clear = (): void => {
    generation += 1
    uses.clear()
    keysOf.clear()
  }

  const invalidate = (accountId: string): void => {
    // Also invalidates reads in progress: they may have started before the change.
    generation += 1
    for (const key of keysOf.get(accountId) ?? []) uses.delete(key)
    keysOf.delete(accountId)
  }
  changes.onChange(invalidate)

  const isUsable = (): boolean => {
    const isCurrent = changes.isCurrent()
    if (wasCurrent && !isCurrent) clear()
    wasCurrent = isCurrent
    return isCurrent
  }

  const add = (key: string, use: KeyUse): void => {
    if (uses.size >= maxCached) clear()
    uses.set(key, use)
    const keys = keysOf.get(use.account.id) ?? new Set()
    keysOf.set(use.account.id, keys.add(key))
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
      const known = isUsable() ? uses.get(key) : undefined
      // An expiry is no change: nothing announces it.
      if (known !== undefined && !hasExpired(known)) return known
      const began = generation
      const use = await store.findByKey(fingerprint)
      if (use !== null && began === generation && isUsable()) add(key, use)
      return use
    },
    rotate: (id, from, key, change) => invalidateAfter(id, store.rotate(id, from, key, change)),
    revokeKey: (id, keyId, change) => invalidateAfter(id, store.revokeKey(id, keyId, change)),
    setRestrictions: (id, restrictions, change) =>
      invalidateAfter(id, store.setRestrictions(id, restrictions, change)),
    setTier: (id, tier, change) => invalidateAfter(id, store.setTier(id, tier, change)),
    revoke: (id, change) => invalidateAfter(id, store.revoke(id, change)),
  }
}

const hasExpired = ({ key: { expiresAt } }: KeyUse): boolean =>
  expiresAt !== null && expiresAt.getTime() <= Date.now()
