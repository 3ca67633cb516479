import { createHash } from 'node:crypto'
import { withinDeadline } from '../../concurrency/deadline.js'
import type { FailureLog } from '../../failureLog.js'
import type { IntentPlan, IntentTerms } from '../../ports/intentStore.js'
import type { FindPause } from '../../ports/operatorPauses.js'
import { readUint256 } from '../../protocol/amount.js'
import { canonicalAsset } from '../../protocol/assetId.js'
import {
  currencyDecimals,
  type IntentRoute,
  intentLimits,
  type UnavailableRoute,
} from '../../protocol/intents.js'
import type { Network, SettlementFee, Token } from '../../schemes/network.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { AssetTerms } from '../../schemes/scheme.js'
import { isSameText, normalizeWith } from '../../schemes/spelling.js'
import type { ClaimRules } from '../core/verify/claimRules.js'
import { noPauses } from '../core/verify/pauses.js'
import type { ChainReadings } from './chainReadings.js'
import { type Candidate, describeProblem, listCandidates } from './listCandidates.js'

/** What a network has not answered at the deadline is unknown. Throws INVALID_REQUEST. */
export type PlanRoutes = (intent: {
  /** Account id, or `anonymous`. */
  readonly caller: string
  readonly terms: IntentTerms
  readonly expiresAt: Date
  readonly now: Date
}) => Promise<IntentPlan>

interface PlanRoutesDependencies {
  readonly registry: SchemeRegistry
  readonly isServing: (network: string) => boolean
  readonly claimRules: Pick<ClaimRules, 'admitsIntents'>
  /** Default: nothing is paused. */
  readonly findPause?: FindPause
  readonly readings: ChainReadings
  readonly failures: FailureLog
  /** For all readings of one plan together. */
  readonly deadlineMs: number
}

export const createPlanRoutes = ({
  registry,
  isServing,
  claimRules,
  findPause = noPauses.find,
  readings,
  failures,
  deadlineMs,
}: PlanRoutesDependencies): PlanRoutes => {
  return async ({ caller, terms, expiresAt, now }) => {
    const { candidates, unavailable } = listCandidates(terms, registry.list(), isServing)
    const validUntil = new Date(
      Math.min(now.getTime() + intentLimits.routeSeconds * 1_000, expiresAt.getTime()),
    )
    const assessed = await withinDeadline({ milliseconds: deadlineMs }, (signal) => {
      const late = rejectOnAbort(signal)
      return Promise.all(
        candidates.map((candidate) =>
          assess(candidate, { caller, terms, validUntil, claimRules, findPause, readings, failures, late }),
        ),
      )
    })
    return {
      routes: rankRoutes(assessed.flatMap((each) => ('route' in each ? [each] : []))),
      unavailable: [...unavailable, ...assessed.flatMap((each) => ('route' in each ? [] : [each]))].toSorted(
        byPlace,
      ),
      validUntil,
    }
  }
}

interface RankedRoute {
  readonly route: IntentRoute
  readonly preference: number
}

/** Best first; equal scores by preference of the network, then by name, so that the order is always the same. */
export const rankRoutes = (ranked: readonly RankedRoute[]): readonly IntentRoute[] =>
  ranked
    .toSorted(
      (left, right) =>
        right.route.score - left.route.score ||
        left.preference - right.preference ||
        compareText(nameOf(left.route), nameOf(right.route)),
    )
    .slice(0, intentLimits.routes)
    .map(({ route }) => route)

interface Assessment extends Pick<PlanRoutesDependencies, 'claimRules' | 'readings' | 'failures'> {
  readonly findPause: FindPause
  readonly caller: string
  readonly terms: IntentTerms
  readonly validUntil: Date
  /** Rejects at the deadline. */
  readonly late: Promise<never>
}

/** One listener for any number of readings: Node warns of more than ten. */
const rejectOnAbort = (signal: AbortSignal): Promise<never> => {
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
  late.catch(() => undefined)
  return late
}

const assess = async (
  candidate: Candidate,
  { caller, terms, validUntil, claimRules, findPause, readings, failures, late }: Assessment,
): Promise<RankedRoute | UnavailableRoute> => {
  const { scheme, asset: named, payer, payTo, preference } = candidate
  const { network, scheme: name } = scheme.kind
  const place = { network, scheme: name, asset: named }
  const inTime = async <T, Missing>(reading: Promise<T>, missing: Missing): Promise<T | Missing> => {
    try {
      return await Promise.race([reading, late])
    } catch (error) {
      failures.failed(network, { network, error })
      return missing
    }
  }

  const pause = findPause({ ...scheme.kind, payTo, caller })
  if (pause !== null) return describeProblem('paused', place, pause.reason)
  // A payer that sends the transfer itself must not pay what the creator of the intent cannot claim.
  if (!(await claimRules.admitsIntents(scheme, { payTo, caller }))) {
    return describeProblem('claim_not_permitted', place)
  }
  const token = await inTime(findToken(candidate, readings), 'unavailable' as const)
  if (token === 'unavailable') return describeProblem('network_unavailable', place)
  if (token === null) return describeProblem('unsupported_asset', place)
  // Terms name some assets by their CAIP-19 identifier.
  const asset = canonicalAsset(network, token.asset)
  const amount = readAmount(terms, candidate.token, token)
  if (amount === null) return describeProblem('amount_not_exact', place)
  const minimum = findMinimum(scheme.network, asset)
  if (amount < minimum) return describeProblem('payment_below_minimum', place, `${minimum} smallest units`)
  if (scheme.network.isTooLarge(amount, token.decimals)) {
    return describeProblem('cross_check_unavailable', place)
  }

  const [balance, fee] = await Promise.all([
    inTime(readings.readBalance(scheme, asset, payer), 'unknown' as const),
    inTime(readings.estimateFee(scheme), null),
  ])
  if (balance === 'unknown') return describeProblem('balance_unknown', place)
  failures.succeeded(network)
  if (balance !== null && balance < amount) {
    return describeProblem('insufficient_balance', place, `${balance} of ${amount} smallest units`)
  }
  const seconds = scheme.network.secondsToSettle
  return {
    preference,
    route: {
      id: routeId({ scheme: name, network, asset: normalizeWith(scheme.network, asset) }),
      scheme: name,
      network,
      asset,
      symbol: candidate.token?.symbol ?? findSymbol(scheme.network, asset),
      decimals: token.decimals,
      amount: amount.toString(),
      payer,
      payTo,
      balance: balance === null ? null : balance.toString(),
      fee: fee === null ? null : viewFee(fee),
      estimatedSeconds: seconds,
      score: scoreRoute({ amount, balance, fee, seconds }),
      validUntil: validUntil.toISOString(),
    },
  }
}

/** Listed tokens are described too: one whose terms are missing could not be selected afterwards. */
const findToken = async (
  { scheme, asset, token, payTo }: Candidate,
  readings: ChainReadings,
): Promise<Token | Pick<AssetTerms, 'asset' | 'decimals'> | null> => {
  const terms = await readings.describeAsset(scheme, asset, payTo)
  return terms === null ? null : (token ?? terms)
}

/**
 * If the token is named by its symbol, the amount is one of the currency; otherwise it is in the token's smallest
 * units.
 */
const readAmount = (
  { amount, decimals }: IntentTerms,
  symbol: Token | null,
  token: { readonly decimals: number | null },
): bigint | null => {
  const asked = decimals ?? (symbol === null ? token.decimals : currencyDecimals)
  if (asked === token.decimals || asked === null) return BigInt(amount)
  return token.decimals === null ? null : convertAmount(BigInt(amount), asked, token.decimals)
}

const findMinimum = (network: Network, asset: string): bigint => {
  const minimums = Object.entries(network.listMinimums())
  const [, minimum = '0'] = minimums.find(([each]) => isSameText(network, each, asset)) ?? []
  return BigInt(minimum)
}

const findSymbol = (network: Network, asset: string): string | null =>
  network.listTokens().find((token) => isSameText(network, token.asset, asset))?.symbol ?? null

const viewFee = ({ amount, ...fee }: SettlementFee) => ({ ...fee, amount: amount.toString() })

const nameOf = ({ network, scheme, asset }: Pick<IntentRoute, 'network' | 'scheme' | 'asset'>): string =>
  `${network} ${scheme} ${asset}`

const routeId = (route: Pick<IntentRoute, 'network' | 'scheme' | 'asset'>): string =>
  `route_${createHash('sha256').update(nameOf(route)).digest('hex').slice(0, 16)}`

const compareText = (left: string, right: string): number => {
  if (left === right) return 0
  return left < right ? -1 : 1
}

const byPlace = (left: UnavailableRoute, right: UnavailableRoute): number =>
  compareText(placeOf(left), placeOf(right))

const placeOf = ({ network, scheme = '', asset = '' }: UnavailableRoute): string =>
  `${network} ${scheme} ${asset}`

/** The same amount in a token with other decimals; null if it cannot be expressed exactly. */
export const convertAmount = (amount: bigint, from: number, to: number): bigint | null => {
  if (to >= from) return readUint256((amount * 10n ** BigInt(to - from)).toString())
  const divisor = 10n ** BigInt(from - to)
  return amount % divisor === 0n ? amount / divisor : null
}

export interface RouteFacts {
  readonly amount: bigint
  /** The payer has it, at least `amount`; null if unknown. */
  readonly balance: bigint | null
  readonly fee: Pick<SettlementFee, 'paidBy'> | null
  readonly seconds: number | null
}

const weights = { cost: 0.5, speed: 0.3, headroom: 0.2 } as const

/** Time at which speed is worth half. */
const halfSeconds = 30

/** 0 to 1 in steps of 0.001. Fees in different coins are not compared: there are no exchange rates here. */
export const scoreRoute = (facts: RouteFacts): number => {
  const score =
    weights.cost * scoreCost(facts) +
    weights.speed * scoreSpeed(facts) +
    weights.headroom * scoreHeadroom(facts)
  return Math.round(score * 1_000) / 1_000
}

const scoreCost = ({ fee }: RouteFacts): number => {
  if (fee === null) return 0.5
  return fee.paidBy === 'facilitator' ? 1 : 0
}

const scoreSpeed = ({ seconds }: RouteFacts): number =>
  seconds === null ? 0 : halfSeconds / (halfSeconds + Math.max(0, seconds))

/** The part of the balance that is left afterwards. */
const scoreHeadroom = ({ amount, balance }: RouteFacts): number =>
  balance === null || balance <= amount ? 0 : Number(((balance - amount) * 10_000n) / balance) / 10_000
