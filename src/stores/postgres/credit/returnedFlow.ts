import type { CreditFacts } from '../../../ports/creditStore.js'
import { creditLimits } from '../../../protocol/credit.js'

/** A way on which money can come back to a wallet from a payee. Volumes are in millionths of a US dollar. */
export interface ReturnPath {
  readonly payee: string
  /** The wallet that pays back; null: the payee itself. */
  readonly via: string | null
  /** What the wallet paid the payee. */
  readonly payments: number
  readonly volume: bigint
  readonly firstAt: Date | null
  /** What the payee paid `via`; ignored where it pays back itself. */
  readonly passed: bigint
  /** What the last wallet of the way paid back. */
  readonly inflow: bigint
}

/**
 * What came back of each payment relation, by payee: directly, then through one other wallet, where more was passed on
 * first. Each inflow is allocated once, and no more than flowed on each step.
 */
const findReturned = (paths: readonly ReturnPath[]): ReadonlyMap<string, bigint> => {
  const left = new Map(paths.map(({ payee, volume }) => [payee, volume]))
  const inflows = new Map(paths.map(({ payee, via, inflow }) => [via ?? payee, inflow]))
  const allocate = ({ payee, via }: ReturnPath, most: bigint) => {
    const [kept = 0n, inflow = 0n] = [left.get(payee), inflows.get(via ?? payee)]
    const amount = [kept, inflow, most].reduce((least, each) => (each < least ? each : least))
    left.set(payee, kept - amount)
    inflows.set(via ?? payee, inflow - amount)
  }
  for (const path of paths) if (path.via === null) allocate(path, path.inflow)
  const indirect = paths.filter(({ via }) => via !== null)
  for (const path of indirect.toSorted(byPassed)) allocate(path, path.passed)
  return new Map(
    paths.flatMap(({ payee, volume }) => {
      const returned = volume - (left.get(payee) ?? volume)
      return returned > 0n ? [[payee, returned] as const] : []
    }),
  )
}

const byPassed = (one: ReturnPath, other: ReturnPath): number => {
  if (one.passed !== other.passed) return one.passed > other.passed ? -1 : 1
  return compare(one.payee, other.payee) || compare(one.via ?? '', other.via ?? '')
}

/** As the collation "C" orders ASCII. */
const compare = (one: string, other: string): number => (one < other ? -1 : Number(one > other))

/** What a wallet paid in all, and what of it is left without what came back. */
interface KeptFacts {
  readonly facts: CreditFacts
  /** Payees whose payments do not count at all, if the earliest payment of the wallet may be one of theirs. */
  readonly undated: readonly string[]
}

type PaidFacts = Omit<CreditFacts, 'returnedPayments' | 'returnedVolume'>

/**
 * Of the payments to a payee, the share counts that was kept, rounded up, and no more than one for each cent. So a small
 * inflow takes no payment, and a large one that was paid before adds none.
 */
export const keepFacts = (paid: PaidFacts, paths: readonly ReturnPath[]): KeptFacts => {
  const returned = findReturned(paths)
  const touched = [...new Map(paths.map((path) => [path.payee, path])).values()]
  const losses = touched.map((path) => findLoss(path, returned.get(path.payee) ?? 0n))
  const sum = (read: (loss: Loss) => number) => losses.reduce((total, loss) => total + read(loss), 0)
  const sumVolume = (read: (loss: Loss) => bigint) => losses.reduce((total, loss) => total + read(loss), 0n)
  const gone = losses.filter(({ isWhole }) => isWhole)
  const [returnedPayments, returnedVolume] = [sum((each) => each.payments), sumVolume((each) => each.volume)]
  return {
    facts: {
      payments: paid.payments - returnedPayments,
      volume: paid.volume - returnedVolume,
      cappedPayments: paid.cappedPayments - sum((each) => each.cappedPayments),
      cappedVolume: paid.cappedVolume - sumVolume((each) => each.cappedVolume),
      payees: paid.payees - gone.length,
      returnedPayments,
      returnedVolume,
      failures: paid.failures,
      firstAt: paid.firstAt,
    },
    undated: gone.some(({ firstAt }) => isNotLater(firstAt, paid.firstAt))
      ? gone.map(({ payee }) => payee)
      : [],
  }
}

interface Loss {
  readonly payee: string
  readonly firstAt: Date | null
  readonly isWhole: boolean
  readonly payments: number
  readonly volume: bigint
  readonly cappedPayments: number
  readonly cappedVolume: bigint
}

const { leastVolume, paymentsPerPayee, volumePerPayee } = creditLimits

const findLoss = ({ payee, payments, volume, firstAt }: ReturnPath, returned: bigint): Loss => {
  const left = volume - returned
  const [share, cents] = [divideUp(BigInt(payments) * left, volume), left / leastVolume]
  const counted = Math.min(Number(share), Number(cents))
  const kept = counted === 0 ? 0n : left
  return {
    payee,
    firstAt,
    isWhole: counted === 0,
    payments: payments - counted,
    volume: volume - kept,
    cappedPayments: Math.min(payments, paymentsPerPayee) - Math.min(counted, paymentsPerPayee),
    cappedVolume: capVolume(volume) - capVolume(kept),
  }
}

const divideUp = (dividend: bigint, divisor: bigint): bigint => (dividend + divisor - 1n) / divisor

const capVolume = (volume: bigint): bigint => (volume < volumePerPayee ? volume : volumePerPayee)

const isNotLater = (one: Date | null, other: Date | null): boolean =>
  one !== null && other !== null && one <= other
