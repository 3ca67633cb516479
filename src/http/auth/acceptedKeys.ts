import type { IncomingHttpHeaders } from 'node:http'
import { findCredentialHash } from './credential.js'

/** Credentials that this process accepted and has not refused since. A hint for limits, never a proof. */
export interface AcceptedKeys {
  add(headers: IncomingHttpHeaders): void
  remove(headers: IncomingHttpHeaders): void
  /** The hash of the credential if it was accepted, else null. */
  find(headers: IncomingHttpHeaders): string | null
}

const maxKept = 20_000

export const createAcceptedKeys = (): AcceptedKeys => {
  const accepted = new Set<string>()
  return {
    add: (headers) => {
      const hash = findCredentialHash(headers)
      if (hash === null || accepted.has(hash)) return
      const [oldest] = accepted
      // One that is in use returns with its next request.
      if (accepted.size >= maxKept && oldest !== undefined) accepted.delete(oldest)
      accepted.add(hash)
    },
    remove: (headers) => {
      const hash = findCredentialHash(headers)
      if (hash !== null) accepted.delete(hash)
    },
    find: (headers) => {
      const hash = accepted.size === 0 ? null : findCredentialHash(headers)
      return hash !== null && accepted.has(hash) ? hash : null
    },
  }
}
