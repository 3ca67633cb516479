import { z } from 'zod'
import type { Clock } from '../../ports/clock.js'
import type { IdempotencyStore } from '../../ports/idempotencyStore.js'
import type { IntentStore } from '../../ports/intentStore.js'
import type { Logger } from '../../ports/logger.js'
import type { IntentWithRoutes } from '../../protocol/intents.js'
import { createBeginOncePerKey } from '../core/beginOncePerKey.js'
import { fingerprintJson } from '../core/fingerprint.js'
import { withShortDeadline } from '../core/settlementContext.js'
import { getOwnIntent } from './findIntent.js'
import type { CreateRequest, IntentUseCases } from './useCases.js'
import { viewWithRoutes } from './viewIntent.js'

export interface CreateOncePerKeyDependencies {
  readonly store: Pick<IntentStore, 'find'>
  readonly idempotency: IdempotencyStore
  readonly createIntent: (request: CreateRequest) => Promise<IntentWithRoutes>
  readonly clock: Clock
  readonly logger: Logger
}

const created = z.object({ intentId: z.string() })

/** A repeated request answers the first intent, as it is then. Requests that failed are not kept. */
export const createCreateOncePerKey = ({
  store,
  idempotency,
  createIntent,
  clock,
  logger,
}: CreateOncePerKeyDependencies): IntentUseCases['createIntent'] => {
  const beginOncePerKey = createBeginOncePerKey(idempotency)

  /** Failures are logged only: the intent exists, and a key that was not ended is taken over. */
  const saveKeyState = async (work: Promise<void>): Promise<void> => {
    try {
      await withShortDeadline(work)
    } catch (error) {
      logger.error({ error }, 'idempotency.write_failed')
    }
  }

  return async ({ idempotencyKey, ...request }) => {
    if (idempotencyKey === null) return { answer: await createIntent(request), isReplayed: false }
    const { terms, caller } = request
    const fingerprint = fingerprintJson(terms)
    // Strangers share the caller `anonymous`: their keys are scoped by the body, so that none blocks another's.
    const scope = caller === 'anonymous' ? `intent:${caller}:${fingerprint}` : `intent:${caller}`
    const idempotent = { caller: scope, key: idempotencyKey, fingerprint }
    const earlier = await beginOncePerKey({ idempotent, name: 'Idempotency-Key' })
    if (earlier.state === 'answered') {
      const { intentId } = created.parse(earlier.response)
      const intent = await getOwnIntent(store, { id: intentId, caller })
      return { answer: viewWithRoutes(intent, clock.now()), isReplayed: true }
    }
    try {
      const answer = await createIntent(request)
      await saveKeyState(idempotency.answer(idempotent, { intentId: answer.intent.id }))
      return { answer, isReplayed: false }
    } catch (error) {
      await saveKeyState(idempotency.forget(idempotent))
      throw error
    }
  }
}
