import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'

/** Controls what was created without an account; only its digest is stored. */
interface ControlToken {
  readonly token: string
  /** SHA-256, as hex. */
  readonly digest: string
}

export const createControlToken = (prefix: 'qtn_stream_' | 'qtn_intent_'): ControlToken => {
  const token = `${prefix}${randomBytes(32).toString('hex')}`
  return { token, digest: digestOf(token) }
}

/** Compares in constant time. */
export const hasDigest = (token: string | null, digest: string): boolean =>
  token !== null && timingSafeEqual(Buffer.from(digestOf(token), 'hex'), Buffer.from(digest, 'hex'))

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')
