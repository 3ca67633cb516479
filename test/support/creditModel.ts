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
  const pays = (payer: string, payee: string) =>
    confirmed.some((each) => each.payer === payer && each.payee === payee)
  const wallets = [...new Set(counted.flatMap(({ payer, payee }) => [payer, payee]))]
  const isOnCycle = (payer: string, payee: string) =>
    pays(payee, payer) || wallets.some((via) => pays(payee, via) && pays(via, payer))
  return new Map(
    wallets.map((wallet) => {
      const own = confirmed.filter(({ payer }) => payer === wallet)
      const payees = [...new Set(own.map(({ payee }) => payee))]
      const good = payees.filter((payee) => !isOnCycle(wallet, payee))
      const paymentsTo = (payee: string) => own.filter((each) => each.payee === payee)
      const volumeTo = (payee: string) => paymentsTo(payee).reduce((sum, { worth }) => sum + worth, 0n)
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
          payments: good.flatMap(paymentsTo).length,
          volume: good.map(volumeTo).reduce((sum, each) => sum + each, 0n),
          cappedPayments: good
            .map((payee) => Math.min(paymentsTo(payee).length, creditFormula.paymentsPerPayee))
            .reduce((sum, each) => sum + each, 0),
          cappedVolume: good
            .map(volumeTo)
            .map((volume) => (volume < cap ? volume : cap))
            .reduce((sum, each) => sum + each, 0n),
          payees: good.length,
          cyclePayments: own.length - good.flatMap(paymentsTo).length,
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
