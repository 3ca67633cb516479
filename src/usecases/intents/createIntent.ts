import type { Clock } from '../../ports/clock.js'
import type { Intent, IntentStore } from '../../ports/intentStore.js'
import type { CreatedIntent } from '../../protocol/intents.js'
import { createControlToken } from '../controlToken.js'
import type { PlanRoutes } from './planRoutes.js'
import type { CreateRequest } from './useCases.js'
import { eventOf, viewWithRoutes } from './viewIntent.js'

export interface CreateIntentDependencies {
  readonly store: Pick<IntentStore, 'create'>
  readonly planRoutes: PlanRoutes
  readonly clock: Clock
}

export interface NewIntent extends CreateRequest {
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
