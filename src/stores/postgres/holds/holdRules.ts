import { z } from 'zod'

/** A caller that asks for an authorization, as SQL expressions; the fields are those of `FundsHold`. */
interface Asking {
  readonly account: string
  readonly purpose: string
  readonly asset: string
  readonly payTo: string
}

const settlementOf = (row: string, condition: string): string =>
  `exists (select 1 from settlements s where s.authorization_id = ${row}.authorization_id and ${condition})`

export const isBeingSettled = (row: string): string => settlementOf(row, "s.state in ('claimed', 'pending')")

/**
 * Never while its authorization is settled: the outcome of what was sent may take longer than any time-out. A stream whose
 * settlement failed tries again, and keeps what it holds; so does an account whose settlement was abandoned before
 * anything was sent, or another caller could come before its retry.
 */
export const hasEnded = (row: string): string => `(
  (${row}.expires_at <= now() and not ${isBeingSettled(row)})
  or ${settlementOf(row, "s.state = 'confirmed'")}
  or ${settlementOf(
    row,
    `${row}.holder in ('verify', 'settle') and s.state = 'failed' and s.closed_at >= ${row}.reserved_at
      and (s.reason <> 'settlement_abandoned' or coalesce(${row}.account, 'anonymous') = 'anonymous')`,
  )})`

/** For an hour, or while a stream holds it: gas that is kept for longer would cost the caller nothing. */
export const isPromised = (row: string): string =>
  `(${row}.promised_at > now() - interval '1 hour' or (${row}.promised_at is not null and ${row}.holder like 'stream:%'))`

export const takenByWord = z.enum(['account', 'recipient', 'asset', 'stream', 'settlement'])

/**
 * A `TakenBy`, or null where a live hold yields. Holds of anonymous callers yield to accounts; a hold without an account
 * yields to whomever the release that made it named.
 */
export const takenBy = (row: string, { account, purpose, asset, payTo }: Asking): string => `case
  when ${row}.account <> 'anonymous' and ${row}.account <> ${account} then 'account'
  when ${row}.account = 'anonymous' and ${account} <> 'anonymous' then null
  when ${row}.holder not in ('verify', 'settle') and ${row}.holder <> ${purpose} then 'stream'
  when lower(${row}.asset) <> lower(${asset}::text) then 'asset'
  when lower(${row}.pay_to) <> lower(${payTo}::text) then 'recipient'
  when ${purpose} not in ('verify', 'settle')
    and (${row}.holder = 'settle' or (${row}.holder = 'verify' and ${isBeingSettled(row)})) then 'settlement'
end`
