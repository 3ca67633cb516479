import { createHash } from 'node:crypto'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Intent, IntentStore, SelectedRoute } from '../../ports/intentStore.js'
import type { FindPause } from '../../ports/operatorPauses.js'
import type { IntentRequirements, IntentRoute } from '../../protocol/intents.js'
import { completeExtra, type FindTerms } from '../core/describe/completeRequirements.js'
import { noPauses, pausedError } from '../core/verify/pauses.js'
import { findEnd, isLate, isSentByPayer, requireOpen, unknownRoute } from './decide.js'
import { changeIntent, getOwnIntent } from './findIntent.js'
import type { IntentUseCases } from './useCases.js'
import { viewIntent } from './viewIntent.js'

interface SelectRouteDependencies {
  readonly store: IntentStore
  readonly findTerms: FindTerms
  /** Whether the creator of the intent could claim the payment. */
  readonly isAdmitted: (intent: Intent, route: IntentRoute) => Promise<boolean>
  /** Default: nothing is paused. */
  readonly findPause?: FindPause
  readonly clock: Clock
}

export interface SelectRoute {
  /** Throws as `IntentUseCases.selectRoute`. */
  select(intent: Intent, routeId: string, options?: { readonly isForTransfer?: boolean }): Promise<Intent>
  /** The route of a transfer that can still pay the intent after its end; changes nothing. Null: it is too early for that. */
  findLate(intent: Intent, routeId: string): Promise<SelectedRoute | null>
}

/** How long an authorization may be valid. */
const authorizationSeconds = 300

export const createSelectRoute = ({
  store,
  findTerms,
  isAdmitted,
  findPause = noPauses.find,
  clock,
}: SelectRouteDependencies): SelectRoute => {
  const complete = (intent: Intent, route: IntentRoute, isSent: boolean): Promise<SelectedRoute> =>
    completeRoute({ intent, route, maxTimeoutSeconds: findMaxTimeout(intent, route), isSent }, findTerms)

  return {
    select: async (intent, routeId, { isForTransfer = false } = {}) => {
      const route = getRoute(intent, routeId)
      // Before the chain is asked, so that an ended intent costs no reading. The newest state decides.
      requireOpen(intent, clock.now())
      const pause = isForTransfer ? null : findPause({ ...route, caller: intent.caller })
      if (pause !== null) throw pausedError(pause)
      // A transfer that was sent before is judged when it is executed.
      if (!isForTransfer && !(await isAdmitted(intent, route))) {
        throw new AppError(
          'ROUTE_EXPIRED',
          'The payee has restricted who may claim its payments; refresh the intent',
        )
      }
      const selected = await complete(intent, route, isForTransfer)
      return await changeIntent(store, intent.id, { command: { type: 'route', selected }, now: clock.now() })
    },
    findLate: async (intent, routeId) => {
      const route = getRoute(intent, routeId)
      return isLate(intent, { route }, clock.now()) ? await complete(intent, route, true) : null
    },
  }
}

const getRoute = ({ plan }: Intent, routeId: string): IntentRoute => {
  const route = plan.routes.find(({ id }) => id === routeId)
  if (route === undefined) throw unknownRoute()
  return route
}

const findMaxTimeout = (intent: Intent, route: IntentRoute): number => {
  if (!isSentByPayer(route)) return authorizationSeconds
  // A transfer is executed while the intent is: its own bounds decide (`paidAfter`, `paidBefore`).
  return Math.ceil((findEnd(intent, route).getTime() - intent.createdAt.getTime()) / 1_000)
}

interface Draft extends Pick<IntentRequirements, 'maxTimeoutSeconds'> {
  readonly intent: Intent
  readonly route: IntentRoute
  /** The payer has sent the transfer: what it pays is judged when it is executed. */
  readonly isSent: boolean
}

/** The requirements as `/accepts` completes them. */
const completeRoute = async (
  { intent, route, maxTimeoutSeconds, isSent }: Draft,
  findTerms: FindTerms,
): Promise<SelectedRoute> => {
  const { scheme, network, asset, amount, payTo } = route
  // Versions before the derivation drew the preimage: one that was issued stays, because the transfer may carry its hash.
  const { memoPreimage } = intent.selected?.route.id === route.id ? intent.selected.requirements.extra : {}
  const drafted = memoPreimage === undefined ? null : { memoPreimage }
  const terms = await findTerms({
    scheme,
    network,
    asset,
    payTo,
    extra: drafted,
    memoPreimage: deriveMemoPreimage(intent, route),
    path: '',
  })
  if (terms === null || (!isSent && terms.isTooLarge(BigInt(amount)))) {
    throw new AppError('ROUTE_EXPIRED', 'The route cannot be settled at the moment; refresh the intent')
  }
  const extra = completeExtra(drafted, terms)
  return {
    route,
    requirements: { scheme, network, amount, asset: terms.asset, payTo, maxTimeoutSeconds, extra },
  }
}

/**
 * The same for every selection of the route, so that a transfer still pays after another route was selected. Where the intent
 * has a token, strangers who know the id cannot derive it.
 */
const deriveMemoPreimage = ({ id, controlDigest }: Intent, route: IntentRoute): string =>
  createHash('sha256')
    .update(JSON.stringify(['memo of an intent', id, controlDigest, route.id]))
    .digest('hex')

export const createSelectRouteUseCase =
  ({
    store,
    clock,
    selectRoute,
  }: Pick<SelectRouteDependencies, 'store' | 'clock'> & {
    readonly selectRoute: SelectRoute
  }): IntentUseCases['selectRoute'] =>
  async ({ routeId, ...call }) => {
    const intent = await selectRoute.select(await getOwnIntent(store, call), routeId)
    const { selected } = intent
    if (selected === null) throw new Error('A routed intent has a route')
    return {
      intent: viewIntent(intent, clock.now()),
      selectedRoute: selected.route,
      paymentRequirements: selected.requirements,
    }
  }
