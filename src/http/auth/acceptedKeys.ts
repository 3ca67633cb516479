import type { IncomingHttpHeaders } from 'node:http'
import { findKeyHash } from './credential.js'

/** Keys that this process accepted and has not refused since. A hint for limits, never a proof. */
export interface AcceptedKeys {
  add(headers: IncomingHttpHeaders): void
  remove(headers: IncomingHttpHeaders): void
  /** The hash of the key if it was accepted, else null. */
  find(headers: IncomingHttpHeaders): string | null
}

export const maxAcceptedKeys = 20_000

export const createAcceptedKeys = (): AcceptedKeys => {
  // Ordered by last use, so that keys in use stay.
  const accepted = new Set<string>()
  return {
    add: (headers) => {
      const hash = findKeyHash(headers)
      if (hash === null) return
      accepted.delete(hash)
      const [oldest] = accepted
      if (accepted.size >= maxAcceptedKeys && oldest !== undefined) accepted.delete(oldest)
      accepted.add(hash)
    },
    remove: (headers) => {
      const hash = findKeyHash(headers)
      if (hash !== null) accepted.delete(hash)
    },
    find: (headers) => {
      const hash = accepted.size === 0 ? null : findKeyHash(headers)
      return hash !== null && accepted.has(hash) ? hash : null
    },
  }
}
