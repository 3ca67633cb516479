import { AppError } from '../../errors.js'
import type { Intent, IntentStore } from '../../ports/intentStore.js'
import { hasDigest } from '../controlToken.js'
import { decide, type IntentCommand } from './decide.js'
import type { IntentCall } from './useCases.js'

/**
 * Throws NOT_FOUND, also for intents of accounts that are not the caller. An anonymous intent belongs to those who know
 * its id.
 */
export const getOwnIntent = async (
  store: Pick<IntentStore, 'find'>,
  { id, caller }: IntentCall,
): Promise<Intent> => {
  const intent = await store.find(id)
  if (intent === null) throw notFound()
  if (intent.caller !== 'anonymous' && intent.caller !== caller) throw notFound()
  return intent
}

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

/** Throws what `decide` throws, and NOT_FOUND. */
export const changeIntent = async (
  store: Pick<IntentStore, 'change'>,
  id: string,
  { command, now }: { readonly command: IntentCommand; readonly now: Date },
): Promise<Intent> => {
  const changed = await store.change(id, (intent) => decide(intent, command, now))
  if (changed === null) throw notFound()
  return changed
}

const notFound = (): AppError => new AppError('NOT_FOUND', 'There is no intent with this id')
