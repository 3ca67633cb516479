import type { Account, AccountStore } from '../../ports/accountStore.js'

/** Who says when what is remembered is out of date. */
export interface ChangeFeed {
  /** False when changes may have been missed. */
  isCurrent(): boolean
  onChange(listener: (accountId: string) => void): void
}

const maxRemembered = 10_000

/**
 * Remembers whose a key is for as long as every change is heard of, so that most requests ask no database. Keys
 * that are nobody's are not remembered: strangers can make up as many as they like.
 */
export const createAccountCache = (store: AccountStore, changes: ChangeFeed): AccountStore => {
  const accounts = new Map<string, Account>()
  const keysOf = new Map<string, Set<string>>()
  let round = 0
  let wasCurrent = false

  const forgetAll = (): void => {
    round += 1
    accounts.clear()
    keysOf.clear()
  }

  const forget = (accountId: string): void => {
    // What is being read at this moment may have been read before the change.
    round += 1
    for (const key of keysOf.get(accountId) ?? []) accounts.delete(key)
    keysOf.delete(accountId)
  }
  changes.onChange(forget)

  /** Whether what is remembered may be used; nothing survives a time in which it might not. */
  const isUsable = (): boolean => {
    const isCurrent = changes.isCurrent()
    if (wasCurrent && !isCurrent) forgetAll()
    wasCurrent = isCurrent
    return isCurrent
  }

  const remember = (key: string, account: Account): void => {
    if (accounts.size >= maxRemembered) forgetAll()
    accounts.set(key, account)
    const keys = keysOf.get(account.id) ?? new Set()
    keysOf.set(account.id, keys.add(key))
  }

  const forgetting = async <T>(accountId: string, change: Promise<T>): Promise<T> => {
    try {
      return await change
    } finally {
      // Also when it failed: its answer may be all that was lost.
      forget(accountId)
    }
  }

  return {
    ...store,
    findByKey: async (fingerprint) => {
      const key = Buffer.from(fingerprint).toString('base64')
      const known = isUsable() ? accounts.get(key) : undefined
      if (known !== undefined) return known
      const began = round
      const account = await store.findByKey(fingerprint)
      if (account !== null && began === round && isUsable()) remember(key, account)
      return account
    },
    rotate: (id, from, key) => forgetting(id, store.rotate(id, from, key)),
    setRestrictions: (id, restrictions) => forgetting(id, store.setRestrictions(id, restrictions)),
    setTier: (id, tier) => forgetting(id, store.setTier(id, tier)),
    revoke: (id) => forgetting(id, store.revoke(id)),
  }
}
