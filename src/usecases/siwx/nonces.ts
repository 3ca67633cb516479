import { randomBytes, timingSafeEqual } from 'node:crypto'
import type { Sealer } from '../../ports/sealer.js'

/** Nonces that prove by themselves who issued them: issuing one stores nothing. */
export interface Nonces {
  /** Domain null: for any. */
  issue(domain: string | null, expiresAt: Date): string
  /** As the nonce says; null if it has another form. */
  findExpiry(nonce: string): Date | null
  /** Whether an instance that shares our secret issued it for the domain, and it has not expired. */
  isIssued(nonce: string, domain: string, now: Date): boolean
}

// Seconds since 1970, random bytes, and a MAC of both and the domain; 32 bytes in hex.
const expiryBytes = 4
const randomLength = 12
const macBytes = 16
const nonceForm = /^[0-9a-f]{64}$/

export const createNonces = (sealer: Pick<Sealer, 'fingerprint' | 'fingerprints'>): Nonces => ({
  issue: (domain, expiresAt) => {
    const expiry = Buffer.alloc(expiryBytes)
    expiry.writeUInt32BE(Math.floor(expiresAt.getTime() / 1_000))
    const body = Buffer.concat([expiry, randomBytes(randomLength)])
    const mac = sealer.fingerprint(describe(body, domain)).subarray(0, macBytes)
    return Buffer.concat([body, mac]).toString('hex')
  },

  findExpiry: (nonce) =>
    nonceForm.test(nonce) ? new Date(Buffer.from(nonce, 'hex').readUInt32BE(0) * 1_000) : null,

  isIssued: (nonce, domain, now) => {
    if (!nonceForm.test(nonce)) return false
    const bytes = Buffer.from(nonce, 'hex')
    const body = bytes.subarray(0, expiryBytes + randomLength)
    const mac = bytes.subarray(expiryBytes + randomLength)
    if (body.readUInt32BE(0) * 1_000 <= now.getTime()) return false
    return [domain, null]
      .flatMap((each) => sealer.fingerprints(describe(body, each)))
      .some((known) => timingSafeEqual(known.subarray(0, macBytes), mac))
  },
})

const describe = (body: Buffer, domain: string | null): string =>
  `${body.toString('hex')}\n${domain?.toLowerCase() ?? ''}`
