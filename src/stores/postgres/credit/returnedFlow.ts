import { z } from 'zod'
import type { CreditFacts } from '../../../ports/creditStore.js'
import { creditLimits } from '../../../protocol/credit.js'

/** A path by which money can return to a wallet from a payee. Volumes are in millionths of a US dollar. */
interface ReturnPath {
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

/** What a wallet paid in total, and what is left of it after returns. */
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

/** Edges that are looked at, from a wallet and again from its payees: the work is bounded, whatever they pay. */
const maxEdges = 1_000

const paidTo = (condition: string): string => `
  select payee, payments, volume, first_at from credit_edges
  where payer = w.wallet and payments > 0 and ${condition} order by payee limit ${maxEdges}`
const paidBy = (condition: string): string => `
  select payer, volume from credit_edges
  where payee = w.wallet and payments > 0 and ${condition} order by payer limit ${maxEdges}`

const countOf = (name: string, rows: string): string =>
  `left join lateral (select count(*) as count from (${rows}) n) ${name} on true`

/**
 * Rows of `paid`, with the ways back to them (`ReturnPath`); `wallets` gives `wallet`. One statement, one snapshot. Each
 * step is taken from the side with fewer edges; where both have more than the limit, ways may be left out.
 */
export const selectPaid = (wallets: string): string => `
  select w.wallet, w.paid_payments, w.paid_volume::text, w.paid_capped_payments, w.paid_capped_volume::text,
    w.paid_payees, w.paid_first_at, w.failures, coalesce(ways.list, '[]') as paths
  from ${wallets}
  ${countOf('ins', `select 1 from credit_edges where payee = w.wallet and payments > 0 limit ${maxEdges}`)}
  ${countOf('outs', `select 1 from credit_edges where payer = w.wallet and payments > 0 and ins.count > 0 limit ${maxEdges}`)}
  ${countOf(
    'forth',
    `select 1 from (${paidTo('ins.count > 0')}) o join credit_edges m on m.payer = o.payee and m.payments > 0
     limit ${maxEdges}`,
  )}
  ${countOf(
    'back',
    `select 1 from (${paidBy('outs.count > 0')}) i join credit_edges m on m.payee = i.payer and m.payments > 0
     limit ${maxEdges}`,
  )}
  left join lateral (
    select json_agg(json_build_array(payee, via, payments, volume::text, first_at, passed::text, inflow::text)) as list
    from (
      select o.payee, null::text as via, o.payments, o.volume, o.first_at, o.volume as passed, i.volume as inflow
      from (${paidTo('ins.count > 0 and outs.count <= ins.count')}) o
        join credit_edges i on i.payer = o.payee and i.payee = w.wallet and i.payments > 0
      union all
      select o.payee, null, o.payments, o.volume, o.first_at, o.volume, i.volume
      from (${paidBy('outs.count > ins.count')}) i
        join credit_edges o on o.payer = w.wallet and o.payee = i.payer and o.payments > 0
      union all
      select p.payee, p.via, p.payments, p.volume, p.first_at, p.passed, i.volume
      from (
        select o.*, m.payee as via, m.volume as passed
        from (${paidTo('ins.count > 0 and forth.count <= back.count')}) o
          join credit_edges m on m.payer = o.payee and m.payments > 0 and m.payee <> w.wallet
        order by o.payee, m.payee limit ${maxEdges}) p
        join credit_edges i on i.payer = p.via and i.payee = w.wallet and i.payments > 0
      union all
      select o.payee, p.via, o.payments, o.volume, o.first_at, p.passed, p.inflow
      from (
        select i.payer as via, i.volume as inflow, m.payer as payee, m.volume as passed
        from (${paidBy('outs.count > 0 and forth.count > back.count')}) i
          join credit_edges m on m.payee = i.payer and m.payments > 0 and m.payer <> w.wallet
        order by i.payer, m.payer limit ${maxEdges}) p
        join credit_edges o on o.payer = w.wallet and o.payee = p.payee and o.payments > 0) found
  ) ways on true`

const amount = z.string().transform(BigInt)

const path = z.tuple([
  z.string(),
  z.string().nullable(),
  z.number(),
  amount,
  z.coerce.date().nullable(),
  amount,
  amount,
])

const row = z.object({
  wallet: z.string(),
  paid_payments: z.coerce.number(),
  paid_volume: amount,
  paid_capped_payments: z.coerce.number(),
  paid_capped_volume: amount,
  paid_payees: z.coerce.number(),
  paid_first_at: z.date().nullable(),
  failures: z.coerce.number(),
  paths: z.array(path),
})

interface PaidWallet {
  readonly wallet: string
  /** Returns are not subtracted. */
  readonly paid: Omit<CreditFacts, 'returnedPayments' | 'returnedVolume'>
  readonly paths: readonly ReturnPath[]
}

export const readPaid = (value: unknown): PaidWallet => {
  const found = row.parse(value)
  return {
    wallet: found.wallet,
    paid: {
      payments: found.paid_payments,
      volume: found.paid_volume,
      cappedPayments: found.paid_capped_payments,
      cappedVolume: found.paid_capped_volume,
      payees: found.paid_payees,
      failures: found.failures,
      firstAt: found.paid_first_at,
    },
    paths: found.paths.map(([payee, via, payments, volume, firstAt, passed, inflow]) => ({
      payee,
      via,
      payments,
      volume,
      firstAt,
      passed,
      inflow,
    })),
  }
}
