import { z } from 'zod'
import {
  hasFailed as hasFailedState,
  isConfirmed,
  isOpen,
  takesAuthorization,
} from '../journal/settlementStates.js'

/** A caller that asks for an authorization, as SQL expressions; the fields are those of `FundsHold`. */
interface Asking {
  readonly account: string
  readonly purpose: string
  readonly asset: string
  readonly payTo: string
}

/** What the settlements of a row's authorization say of it, as SQL conditions. */
interface SettlementFacts {
  readonly isOpen: string
  readonly isConfirmed: string
  /** Since the row was held. A stream whose settlement failed tries again; so does an account that abandoned one. */
  readonly hasFailed: string
}

const hasFailed = (settlement: string, row: string): string =>
  `${row}.holder in ('verify', 'settle') and ${hasFailedState(settlement)} and ${settlement}.closed_at >= ${row}.reserved_at
    and (${settlement}.reason <> 'settlement_abandoned' or coalesce(${row}.account, 'anonymous') = 'anonymous')`

/** Asked where they are needed, which is planned anew each time. */
const askFacts = (row: string): SettlementFacts => {
  const exists = (condition: string) =>
    `exists (select 1 from settlements s where s.authorization_id = ${row}.authorization_id and ${condition})`
  return {
    isOpen: exists(isOpen('s')),
    isConfirmed: exists(isConfirmed('s')),
    hasFailed: exists(hasFailed('s', row)),
  }
}

/**
 * A lateral item of a from list, whose columns are `columnFacts` of its name: read once for each row. Two partial indexes find
 * the settlements of an authorization: those that take it, and those that failed.
 */
export const readFacts = (row: string): string => `(
  select coalesce(bool_or(${isOpen('s')}), false) as is_open, coalesce(bool_or(${isConfirmed('s')}), false) as is_confirmed,
    coalesce(bool_or(${hasFailed('s', row)}), false) as has_failed
  from (
    select f.* from settlements f where f.authorization_id = ${row}.authorization_id and ${takesAuthorization('f')}
    union all
    select f.* from settlements f where f.authorization_id = ${row}.authorization_id and ${hasFailedState('f')}) s)`

export const columnFacts = (name: string): SettlementFacts => ({
  isOpen: `${name}.is_open`,
  isConfirmed: `${name}.is_confirmed`,
  hasFailed: `${name}.has_failed`,
})

export const isBeingSettled = (row: string): string => askFacts(row).isOpen

/**
 * Never while its authorization is settled: the outcome of what was sent may take longer than any time-out. A stream whose
 * settlement failed tries again, and keeps what it holds; so does an account whose settlement was abandoned before
 * anything was sent, or another caller could come before its retry.
 */
export const hasEnded = (row: string, facts = askFacts(row)): string =>
  `((${row}.expires_at <= now() and not ${facts.isOpen}) or ${facts.isConfirmed} or ${facts.hasFailed})`

/** For an hour, or while a stream holds it: gas that is kept for longer would cost the caller nothing. */
export const isPromised = (row: string): string =>
  `(${row}.promised_at > now() - interval '1 hour' or (${row}.promised_at is not null and ${row}.holder like 'stream:%'))`

export const takenByWord = z.enum(['account', 'recipient', 'asset', 'stream', 'settlement'])

/**
 * A `TakenBy`, or null where a live hold yields. Holds of anonymous callers yield to accounts; a hold without an account
 * yields to whomever the release that made it named.
 */
export const takenBy = (
  row: string,
  { account, purpose, asset, payTo }: Asking,
  facts = askFacts(row),
): string => `case
  when ${row}.account <> 'anonymous' and ${row}.account <> ${account} then 'account'
  when ${row}.account = 'anonymous' and ${account} <> 'anonymous' then null
  when ${row}.holder not in ('verify', 'settle') and ${row}.holder <> ${purpose} then 'stream'
  when lower(${row}.asset) <> lower(${asset}::text) then 'asset'
  when lower(${row}.pay_to) <> lower(${payTo}::text) then 'recipient'
  when ${purpose} not in ('verify', 'settle')
    and (${row}.holder = 'settle' or (${row}.holder = 'verify' and ${facts.isOpen})) then 'settlement'
end`
