import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Intent, IntentStore, SelectedRoute } from '../../ports/intentStore.js'
import type { IntentRequirements, IntentRoute } from '../../protocol/intents.js'
import { completeExtra, type FindTerms } from '../core/completeRequirements.js'
import { isLate, requireOpen, unknownRoute } from './decide.js'
import { changeIntent, getOwnIntent } from './findIntent.js'
import { findEnd, isSentByPayer } from './sentByPayer.js'
import type { IntentUseCases } from './useCases.js'
import { viewIntent } from './viewIntent.js'

export interface SelectRouteDependencies {
  readonly store: IntentStore
  readonly findTerms: FindTerms
  /** Whether the creator of the intent could claim the payment. */
  readonly isAdmitted: (intent: Intent, route: IntentRoute) => Promise<boolean>
  readonly clock: Clock
}

/**
 * Selects a route of an intent. Throws as `IntentUseCases.selectRoute`. `isForTransfer`: also after the intent ended, for a
 * transfer that the payer may have sent before.
 */
export type SelectRoute = (
  intent: Intent,
  routeId: string,
  options?: { readonly isForTransfer?: boolean },
) => Promise<Intent>

/** How long an authorization may be valid. */
const authorizationSeconds = 300

export const createSelectRoute =
  ({ store, findTerms, isAdmitted, clock }: SelectRouteDependencies): SelectRoute =>
  async (intent, routeId, { isForTransfer = false } = {}) => {
    const route = intent.plan.routes.find(({ id }) => id === routeId)
    if (route === undefined) throw unknownRoute()
    // Before the chain is asked, so that an ended intent costs no reading. The newest state decides.
    if (!isForTransfer || !isLate(intent, { route }, clock.now())) requireOpen(intent, clock.now())
    // A transfer that was sent before is judged when it is executed.
    if (!isForTransfer && !(await isAdmitted(intent, route))) {
      throw new AppError(
        'ROUTE_EXPIRED',
        'The payee has restricted who may claim its payments; refresh the intent',
      )
    }
    const maxTimeoutSeconds = findMaxTimeout(intent, route)
    const selected = await completeRoute({ intent, route, maxTimeoutSeconds }, findTerms)
    const command = { type: 'route', selected, isForTransfer } as const
    return await changeIntent(store, intent.id, { command, now: clock.now() })
  }

const findMaxTimeout = (intent: Intent, route: IntentRoute): number => {
  if (!isSentByPayer(route)) return authorizationSeconds
  // A transfer is executed while the intent is: its own bounds decide (`paidAfter`, `paidBefore`).
  return Math.ceil((findEnd(intent, route).getTime() - intent.createdAt.getTime()) / 1_000)
}

interface Draft extends Pick<IntentRequirements, 'maxTimeoutSeconds'> {
  readonly intent: Intent
  readonly route: IntentRoute
}

/** The requirements as `/accepts` completes them. */
const completeRoute = async (
  { intent, route, maxTimeoutSeconds }: Draft,
  findTerms: FindTerms,
): Promise<SelectedRoute> => {
  const { scheme, network, asset, amount, payTo } = route
  // A memo that was issued for the route stays: the payer may have sent the transfer with it.
  const { memoPreimage } = intent.selected?.route.id === route.id ? intent.selected.requirements.extra : {}
  const drafted = memoPreimage === undefined ? null : { memoPreimage }
  const terms = await findTerms({ scheme, network, asset, payTo, extra: drafted, path: '' })
  if (terms === null) {
    throw new AppError('ROUTE_EXPIRED', 'The route cannot be settled at the moment; refresh the intent')
  }
  const extra = completeExtra(drafted, terms)
  return {
    route,
    requirements: { scheme, network, amount, asset: terms.asset, payTo, maxTimeoutSeconds, extra },
  }
}

export const createSelectRouteUseCase =
  ({
    store,
    clock,
    selectRoute,
  }: Pick<SelectRouteDependencies, 'store' | 'clock'> & {
    readonly selectRoute: SelectRoute
  }): IntentUseCases['selectRoute'] =>
  async ({ routeId, ...call }) => {
    const intent = await selectRoute(await getOwnIntent(store, call), routeId)
    const { selected } = intent
    if (selected === null) throw new Error('A routed intent has a route')
    return {
      intent: viewIntent(intent, clock.now()),
      selectedRoute: selected.route,
      paymentRequirements: selected.requirements,
    }
  }
