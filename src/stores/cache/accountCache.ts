import type { AccountStore, KeyUse } from '../../ports/accountStore.js'

interface ChangeFeed {
  /** False when changes may not have arrived yet. */
  isCurrent(): boolean
  onChange(listener: (accountId: string) => void): void
  /** Changes before this may have been missed. */
  onRestart(listener: () => void): void
}

const maxCached = 10_000

/**
 * How long a key stays unknown after it was looked up in vain. New keys are not announced to other instances; but no client can
 * present one before it was created, unless it is created by hand.
 */
export const unknownKeyMs = 1_000

/**
 * Caches only while the change feed is current. Look-ups of one key at the same time are one. An unknown key is remembered
 * for a second.
 */
export const createAccountCache = (
  store: AccountStore,
  changes: ChangeFeed,
  now: () => number = () => performance.now(),
): AccountStore => {
  const uses = new Map<string, KeyUse>()
  const lookups = new Map<string, Promise<KeyUse | null>>()
  /** Until when, in the order of time. */
  const unknown = new Map<string, number>()
  const keysOf = new Map<string, Set<string>>()
  let generation = 0

  /** Also ends the sharing of look-ups in progress: they may have started before the change. */
  const forgetLookups = (): void => {
    generation += 1
    lookups.clear()
    unknown.clear()
  }

  const clear = (): void => {
    forgetLookups()
    uses.clear()
    keysOf.clear()
  }

  const invalidate = (accountId: string): void => {
    forgetLookups()
    for (const key of keysOf.get(accountId) ?? []) uses.delete(key)
    keysOf.delete(accountId)
  }
  changes.onChange(invalidate)
  changes.onRestart(clear)

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

  const addUnknown = (key: string): void => {
    const nowMs = now()
    for (const [oldest, untilMs] of unknown) {
      if (untilMs > nowMs && unknown.size < maxCached) break
      unknown.delete(oldest)
    }
    unknown.delete(key)
    unknown.set(key, nowMs + unknownKeyMs)
  }

  const lookUp = async (key: string, fingerprint: Uint8Array): Promise<KeyUse | null> => {
    const began = generation
    const use = await store.findByKey(fingerprint)
    if (began !== generation) return use
    if (use === null) addUnknown(key)
    else if (changes.isCurrent()) add(key, use)
    return use
  }

  const shareLookup = (key: string, fingerprint: Uint8Array): Promise<KeyUse | null> => {
    const running = lookups.get(key)
    if (running !== undefined) return running
    const lookup = lookUp(key, fingerprint).finally(() => {
      if (lookups.get(key) === lookup) lookups.delete(key)
    })
    lookups.set(key, lookup)
    return lookup
  }

  const forgetLookupsAfter = async <T>(change: Promise<T>): Promise<T> => {
    try {
      return await change
    } finally {
      forgetLookups()
    }
  }

  return {
    ...store,
    register: (who, key, change) => forgetLookupsAfter(store.register(who, key, change)),
    addKey: (id, key, change) => forgetLookupsAfter(store.addKey(id, key, change)),
    findByKey: async (fingerprint) => {
      const key = Buffer.from(fingerprint).toString('base64')
      const known = changes.isCurrent() ? uses.get(key) : undefined
      // An expiry is no change: nothing announces it.
      if (known !== undefined && !hasExpired(known)) return known
      if ((unknown.get(key) ?? 0) > now()) return null
      return await shareLookup(key, fingerprint)
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
