import { createHash, randomUUID } from 'node:crypto'
import { z } from 'zod'
import type { Clock } from '../../ports/clock.js'
import type { IdempotencyStore, IdempotentRequest } from '../../ports/idempotencyStore.js'
import type { Intent, IntentStore } from '../../ports/intentStore.js'
import type { Logger } from '../../ports/logger.js'
import type { CreatedIntent } from '../../protocol/intents.js'
import { keyKeptMs } from '../../protocol/requestLimits.js'
import { createControlToken } from '../controlToken.js'
import { fingerprintJson } from '../core/idempotency/fingerprint.js'
import { createBeginOncePerKey, createSaveKeyState } from '../core/idempotency/oncePerKey.js'
import { getOwnIntent } from './findIntent.js'
import type { PlanRoutes } from './planRoutes.js'
import type { CreateRequest, IntentUseCases } from './useCases.js'
import { eventOf, viewWithRoutes } from './viewIntent.js'

interface CreateIntentDependencies {
  readonly store: Pick<IntentStore, 'create'>
  readonly planRoutes: PlanRoutes
  readonly clock: Clock
}

interface NewIntent extends CreateRequest {
  readonly id: string
}

export const createCreateIntent =
  ({ store, planRoutes, clock }: CreateIntentDependencies) =>
  async ({ id, terms: { expiresIn, ...terms }, caller }: NewIntent): Promise<CreatedIntent> => {
    const createdAt = clock.now()
    const expiresAt = new Date(createdAt.getTime() + expiresIn * 1_000)
    const plan = await planRoutes({ caller, terms, expiresAt, now: createdAt })
    const control = caller === 'anonymous' ? createControlToken('qtn_intent_') : null
    const intent: Intent = {
      id,
      caller,
      status: 'pending',
      terms,
      plan,
      selected: null,
      payment: null,
      transaction: null,
      settledAmount: null,
      reason: null,
      createdAt,
      expiresAt,
      endsAt: expiresAt,
      closedAt: null,
      cancelledAt: null,
      controlDigest: control?.digest ?? null,
    }
    await store.create({ intent, event: eventOf('created', intent, createdAt) })
    return {
      ...viewWithRoutes(intent, createdAt),
      ...(control === null ? {} : { intentToken: control.token }),
    }
  }

interface CreateOncePerKeyDependencies {
  readonly store: Pick<IntentStore, 'find'>
  readonly idempotency: IdempotencyStore
  readonly createIntent: (intent: NewIntent) => Promise<CreatedIntent>
  readonly clock: Clock
  readonly logger: Logger
}

const created = z.object({ intentId: z.string() })

/** A repeated request answers the first intent, as it is then, without its token. Requests that failed are not kept. */
export const createCreateOncePerKey = ({
  store,
  idempotency,
  createIntent,
  clock,
  logger,
}: CreateOncePerKeyDependencies): IntentUseCases['createIntent'] => {
  const beginOncePerKey = createBeginOncePerKey(idempotency)
  const saveKeyState = createSaveKeyState(logger)

  return async ({ idempotencyKey, ...request }) => {
    if (idempotencyKey === null)
      return { answer: await createIntent({ id: randomUUID(), ...request }), isReplayed: false }
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
      // Strangers may know body and key, and the id must not follow from them.
      const id = caller === 'anonymous' ? randomUUID() : deriveId(idempotent)
      const written = await store.find(id)
      const now = clock.now()
      if (written !== null && now.getTime() - written.createdAt.getTime() < keyKeptMs) {
        await saveKeyState(idempotent.caller, idempotency.answer(idempotent, { intentId: id }))
        return { answer: viewWithRoutes(written, now), isReplayed: true }
      }
      const answer = await createIntent({ id: written === null ? id : randomUUID(), ...request })
      await saveKeyState(idempotent.caller, idempotency.answer(idempotent, { intentId: answer.intent.id }))
      return { answer, isReplayed: false }
    } catch (error) {
      await saveKeyState(idempotent.caller, idempotency.forget(idempotent))
      throw error
    }
  }
}

/** A UUID of RFC 9562, version 8: a repeated request finds what a process wrote that died before it could say so. */
const deriveId = ({ caller, key, fingerprint }: IdempotentRequest): string => {
  const hex = createHash('sha256')
    .update(JSON.stringify([caller, key, fingerprint]))
    .digest('hex')
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(12, 15)}`,
    `a${hex.slice(15, 18)}`,
    hex.slice(18, 30),
  ].join('-')
}
