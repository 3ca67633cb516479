import { z } from 'zod'
import type { CreditFacts } from '../../../ports/creditStore.js'
import type { ReturnPath } from './returnedFlow.js'

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
  /** Without regard to what came back. */
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
