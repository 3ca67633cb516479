import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { Intent } from '../../ports/intentStore.js'

const prefix = 'qtn_intent_'

/** For an intent without an account; only its digest is stored. */
export const createIntentToken = (): { readonly token: string; readonly digest: string } => {
  const token = `${prefix}${randomBytes(32).toString('hex')}`
  return { token, digest: digestOf(token) }
}

const digestOf = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Throws FORBIDDEN unless the token is that of the creator. Intents of accounts have none. */
export const requireControl = (
  { controlDigest }: Pick<Intent, 'controlDigest'>,
  token: string | null,
): void => {
  if (controlDigest === null) return
  if (
    token !== null &&
    timingSafeEqual(Buffer.from(digestOf(token), 'hex'), Buffer.from(controlDigest, 'hex'))
  )
    return
  throw new AppError(
    'FORBIDDEN',
    'Only the creator can cancel the intent: send its intentToken as X-Intent-Token',
  )
}
