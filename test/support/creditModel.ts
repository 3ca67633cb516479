import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { CreditFacts } from '../../src/ports/creditStore.js'
import { creditFormula } from '../../src/usecases/credit/score.js'

/** A settlement, as far as credit scores depend on it. */
export interface CreditPayment {
  readonly authorizationId: string
  readonly network: string
  readonly payer: string
  readonly payee: string
  /** In millionths of a US dollar; null if unknown. */
  readonly worth: bigint | null
  readonly state: string
  readonly reason: string | null
  readonly createdAt: Date
}

const dust = 10_000n
const faults = [
  'insufficient_funds',
  'insufficient_balance',
  'insufficient_jetton_balance',
  'permit2_allowance_required',
  'invalid_exact_svm_payload_transaction_sender_ata_not_found',
]

const keyOf = (network: string, address: string) => `${network.split(':')[0]}:${address}`

const shareOf = (payments: number, { kept, volume }: { kept: bigint; volume: bigint }): number => {
  const whole = BigInt(payments) * kept
  const share = whole / volume + (whole % volume === 0n ? 0n : 1n)
  return Math.min(Number(share), Number(kept / dust))
}

const order = (one: string, other: string) => (one < other ? -1 : Number(one > other))

/** The rules of docs/credit.md, as plainly as they can be said: what the database must count. */
export const countCredit = (payments: readonly CreditPayment[]): ReadonlyMap<string, CreditFacts> => {
  const counted = payments.flatMap((payment) =>
    payment.worth !== null && payment.worth >= dust && payment.payer !== payment.payee
      ? [
          {
            ...payment,
            worth: payment.worth,
            payer: keyOf(payment.network, payment.payer),
            payee: keyOf(payment.network, payment.payee),
          },
        ]
      : [],
  )
  const confirmed = counted.filter(({ state }) => state === 'confirmed')
  const flow = (payer: string, payee: string) =>
    confirmed
      .filter((each) => each.payer === payer && each.payee === payee)
      .reduce((sum, { worth }) => sum + worth, 0n)
  const wallets = [...new Set(counted.flatMap(({ payer, payee }) => [payer, payee]))]
  /** By payee, what the wallet paid less what came back. */
  const keep = (wallet: string): ReadonlyMap<string, bigint> => {
    const kept = new Map(wallets.map((payee) => [payee, flow(wallet, payee)]))
    const inflows = new Map(wallets.map((payer) => [payer, flow(payer, wallet)]))
    const take = (payee: string, last: string, most: bigint) => {
      const [left = 0n, inflow = 0n] = [kept.get(payee), inflows.get(last)]
      const amount = [left, inflow, most].reduce((least, each) => (each < least ? each : least))
      kept.set(payee, left - amount)
      inflows.set(last, inflow - amount)
    }
    for (const payee of wallets) take(payee, payee, flow(payee, wallet))
    const ways = wallets
      .flatMap((payee) => wallets.map((via) => ({ payee, via, passed: flow(payee, via) })))
      .filter(({ payee, via }) => payee !== wallet && via !== wallet)
      .toSorted(
        (one, other) =>
          Number(other.passed - one.passed) ||
          (one.payee === other.payee ? order(one.via, other.via) : order(one.payee, other.payee)),
      )
    for (const { payee, via, passed } of ways) take(payee, via, passed)
    return kept
  }
  return new Map(
    wallets.map((wallet) => {
      const own = confirmed.filter(({ payer }) => payer === wallet)
      const payees = [...new Set(own.map(({ payee }) => payee))]
      const kept = keep(wallet)
      const paymentsTo = (payee: string) => own.filter((each) => each.payee === payee)
      const countTo = (payee: string) =>
        shareOf(paymentsTo(payee).length, { kept: kept.get(payee) ?? 0n, volume: flow(wallet, payee) })
      const good = payees.filter((payee) => countTo(payee) > 0)
      const volumeTo = (payee: string) => kept.get(payee) ?? 0n
      const volume = good.map(volumeTo).reduce((sum, each) => sum + each, 0n)
      const paid = good.map(countTo).reduce((sum, each) => sum + each, 0)
      const cap = BigInt(creditFormula.dollarsPerPayee) * 1_000_000n
      const times = good.flatMap(paymentsTo).map(({ createdAt }) => createdAt.getTime())
      const failed = counted.filter(
        ({ payer, state, reason, authorizationId }) =>
          payer === wallet &&
          state === 'failed' &&
          faults.includes(reason ?? '') &&
          !payments.some((other) => other.authorizationId === authorizationId && other.state === 'confirmed'),
      )
      return [
        wallet,
        {
          payments: paid,
          volume,
          cappedPayments: good
            .map((payee) => Math.min(countTo(payee), creditFormula.paymentsPerPayee))
            .reduce((sum, each) => sum + each, 0),
          cappedVolume: good
            .map(volumeTo)
            .map((volume) => (volume < cap ? volume : cap))
            .reduce((sum, each) => sum + each, 0n),
          payees: good.length,
          returnedPayments: own.length - paid,
          returnedVolume: own.reduce((sum, { worth }) => sum + worth, 0n) - volume,
          failures: new Set(failed.map(({ authorizationId }) => authorizationId)).size,
          firstAt: times.length === 0 ? null : new Date(Math.min(...times)),
        },
      ]
    }),
  )
}

export interface OpenPayment {
  readonly payer: string
  readonly payee: string
  /** Smallest units. */
  readonly amount?: bigint
  /** Null: of unknown worth. */
  readonly decimals?: number | null
  readonly network?: string
  readonly authorizationId?: string
  readonly createdAt?: Date
}

/** Opens settlements in one statement; returns their ids. */
export const openPayments = async (
  pool: Pool,
  payments: readonly OpenPayment[],
): Promise<readonly string[]> => {
  const rows = payments.map((payment) => ({ id: randomUUID(), ...payment }))
  await pool.query(
    `insert into settlements (id, authorization_id, caller, fingerprint, scheme, network, asset, payer, pay_to, amount,
       authorized_amount, state, payer_wallet, payee_wallet, dollar_decimals, created_at)
     select id, authorization_id, 'anonymous', 'f', 'exact', network, 'gold', payer, payee, amount, amount, 'claimed',
       payer, payee, decimals, created_at
     from unnest($1::uuid[], $2::text[], $3::text[], $4::text[], $5::text[], $6::numeric[], $7::smallint[],
       $8::timestamptz[]) as c (id, authorization_id, network, payer, payee, amount, decimals, created_at)`,
    [
      rows.map(({ id }) => id),
      rows.map(({ authorizationId }) => authorizationId ?? randomUUID()),
      rows.map(({ network }) => network ?? 'eip155:84532'),
      rows.map(({ payer }) => payer),
      rows.map(({ payee }) => payee),
      rows.map(({ amount }) => (amount ?? 1_000_000n).toString()),
      rows.map(({ decimals }) => (decimals === undefined ? 6 : decimals)),
      rows.map(({ createdAt }) => createdAt ?? new Date()),
    ],
  )
  return rows.map(({ id }) => id)
}

const row = z.object({
  authorizationId: z.string(),
  network: z.string(),
  payer: z.string(),
  payee: z.string(),
  amount: z.string().transform(BigInt),
  decimals: z.number().nullable(),
  state: z.string(),
  reason: z.string().nullable(),
  createdAt: z.date(),
})

/** All settlements of the journal. */
export const listPayments = async (pool: Pool): Promise<readonly CreditPayment[]> => {
  const { rows } = await pool.query(
    `select authorization_id as "authorizationId", network, payer_wallet as payer, payee_wallet as payee,
       coalesce(settled_amount, amount)::text as amount, dollar_decimals as decimals, state, reason,
       created_at as "createdAt" from settlements`,
  )
  return rows.map((each) => {
    const { amount, decimals, ...payment } = row.parse(each)
    return { ...payment, worth: decimals === null ? null : toMillionths(amount, decimals) }
  })
}

const toMillionths = (amount: bigint, decimals: number): bigint =>
  decimals > 6 ? amount / 10n ** BigInt(decimals - 6) : amount * 10n ** BigInt(6 - decimals)
