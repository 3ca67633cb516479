import type { IncomingHttpHeaders } from 'node:http'
import { setNewest } from '../../concurrency/boundedMap.js'
import type { KeyHolder } from '../../usecases/dashboard/useCases.js'
import { findKeyHash } from './credential.js'

export type KeyCustomer = Pick<KeyHolder, 'customer' | 'isProven' | 'tier'>

/** Keys that this process accepted and has not refused since. A hint for limits, never a proof. */
export interface AcceptedKeys {
  add(headers: IncomingHttpHeaders, owner: KeyCustomer): void
  remove(headers: IncomingHttpHeaders): void
  /** Null if the key was not accepted. */
  find(headers: IncomingHttpHeaders): KeyCustomer | null
}

export const maxAcceptedKeys = 20_000

export const createAcceptedKeys = (): AcceptedKeys => {
  // Ordered by last use, so that keys in use stay.
  const accepted = new Map<string, KeyCustomer>()
  return {
    add: (headers, { customer, isProven, tier }) => {
      const hash = findKeyHash(headers)
      if (hash !== null) setNewest(accepted, hash, { customer, isProven, tier }, maxAcceptedKeys)
    },
    remove: (headers) => {
      const hash = findKeyHash(headers)
      if (hash !== null) accepted.delete(hash)
    },
    find: (headers) => {
      const hash = accepted.size === 0 ? null : findKeyHash(headers)
      return (hash === null ? undefined : accepted.get(hash)) ?? null
    },
  }
}
