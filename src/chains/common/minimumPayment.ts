import type { Reason } from '../../protocol/reasons.js'

/** What payments on one network must be worth at least. */
export interface MinimumPaymentSettings {
  /** The operator's, in smallest units of whatever token is paid; 0: none. Null: it follows the cost of a settlement. */
  readonly fixed: bigint | null
  /** Coarse price of the native coin in USD, for this limit only. Null: no minimum that follows the cost. */
  readonly coinUsd: number | null
  /** Tokens that count as 1 USD; any other token has no minimum that follows the cost. */
  readonly stablecoins: readonly { readonly asset: string; readonly decimals: number }[]
}

export interface MinimumPaymentTerms {
  readonly network: string
  readonly settings: MinimumPaymentSettings
  /** Share of the cost of a settlement that a payment must be worth; 0: none. */
  readonly gasShare: number
  /** Decimals of the native coin. */
  readonly coinDecimals: number
}

interface ProposedPayment {
  /** As the settings spell it. */
  readonly asset: string
  readonly amount: bigint
  /** What its settlement costs the facilitator, in smallest units of the native coin; null: nothing, or not known. */
  readonly cost: bigint | null
  readonly isForSettle: boolean
  /** It must be worth the whole cost, whatever the operator's share is, if there is one; also when it is settled. */
  readonly coversCost?: boolean
}

export interface MinimumPayment {
  /** Null when the payment is large enough. */
  refuse(payment: ProposedPayment): { readonly reason: Reason; readonly message: string } | null
  /** The highest cost of a settlement that a payment is worth; null where its minimum does not follow the cost. */
  findWorth(payment: Omit<ProposedPayment, 'cost' | 'coversCost'>): bigint | null
  /** Minimum by asset, in smallest units, at a cost; without assets that have none. */
  list(assets: readonly string[], cost: bigint | null): Readonly<Record<string, string>>
}

// A payment that verified must not be refused by /settle because the price rose meanwhile, unless it more than doubled.
const settleDivisor = 2n

/** Reads nothing from the chain: the caller knows the cost already. */
export const createMinimumPayment = ({
  network,
  settings,
  gasShare,
  coinDecimals,
}: MinimumPaymentTerms): MinimumPayment => {
  const { fixed, coinUsd, stablecoins } = settings
  const decimalsOf = new Map(stablecoins.map(({ asset, decimals }) => [asset, decimals]))
  const priceAt = (share: number): bigint => toMillionths(coinUsd ?? 0) * toMillionths(share)
  const priceMillionths = priceAt(gasShare)
  const fullPriceMillionths = gasShare === 0 ? 0n : priceAt(Math.max(1, gasShare))

  /** The share of a cost, rounded up, in a token that is worth 1 USD; 0 for an unknown token. */
  const findShare = (asset: string, cost: bigint | null, price = priceMillionths): bigint => {
    const decimals = decimalsOf.get(asset)
    if (decimals === undefined || cost === null) return 0n
    return divideUp(cost * price * 10n ** BigInt(decimals), 10n ** BigInt(coinDecimals + 12))
  }

  return {
    refuse: ({ asset, amount, cost, isForSettle, coversCost = false }) => {
      const share = coversCost
        ? findShare(asset, cost, fullPriceMillionths)
        : divideUp(findShare(asset, cost), isForSettle ? settleDivisor : 1n)
      const minimum = fixed ?? share
      if (amount >= minimum) return null
      return {
        reason: 'payment_below_minimum',
        message: `The payment of ${amount} is lower than ${minimum}, the minimum of ${asset} on ${network} in smallest units`,
      }
    },
    findWorth: ({ asset, amount, isForSettle }) => {
      const decimals = decimalsOf.get(asset)
      if (fixed !== null || decimals === undefined || priceMillionths === 0n) return null
      const covered = amount * (isForSettle ? settleDivisor : 1n)
      return (covered * 10n ** BigInt(coinDecimals + 12)) / (priceMillionths * 10n ** BigInt(decimals))
    },
    list: (assets, cost) => {
      const minimums = assets.map((asset) => ({ asset, minimum: fixed ?? findShare(asset, cost) }))
      const effective = minimums.filter(({ minimum }) => minimum > 1n)
      return Object.fromEntries(effective.map(({ asset, minimum }) => [asset, minimum.toString()]))
    },
  }
}

const toMillionths = (value: number): bigint => BigInt(Math.round(value * 1_000_000))

const divideUp = (value: bigint, divisor: bigint): bigint => (value + divisor - 1n) / divisor
