import type { SettlementFee } from '../../schemes/scheme.js'

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
