import { AppError } from '../../errors.js'
import type { Intent } from '../../ports/intentStore.js'
import { hasDigest } from '../controlToken.js'

/** Throws FORBIDDEN unless the token is that of the creator. Intents of accounts have none. */
export const requireControl = (
  { controlDigest }: Pick<Intent, 'controlDigest'>,
  token: string | null,
): void => {
  if (controlDigest === null || hasDigest(token, controlDigest)) return
  throw new AppError(
    'FORBIDDEN',
    'Only the creator can cancel the intent: send its intentToken as X-Intent-Token',
  )
}
