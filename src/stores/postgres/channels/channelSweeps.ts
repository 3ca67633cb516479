import type { Pool } from 'pg'
import { z } from 'zod'
import type { ChannelLedger } from '../../../ports/channelLedger.js'
import { selectColumns } from '../database/statements.js'
import { isNotFailed } from '../journal/settlementStates.js'

/* What receivers are owed over all channels, and to which accounts. */

/** What a sweep had paid that failed afterwards, as a reorg took it back, is owed again. */
const withUnpaid = `left join settlements p on p.id = s.paid_by and p.state = 'failed'`
const amountOwed = `s.amount + case when p.id is null then 0 else s.paid_amount end`
const owedSince = `least(s.since, case when p.id is not null then s.paid_since end)`

// The row stays, with a part of nothing that is never due, which an earlier version reads as that.
const endShares = `
  with ended as (
    select s.account_id, ${amountOwed} as amount, ${owedSince} as since
    from channel_sweep_shares s ${withUnpaid}
    where s.network = $1 and s.receiver = $2 and s.token = $3 and s.last_credit <= $4::bigint and s.paid_by is distinct from $5::uuid
    for update of s
  )
  update channel_sweep_shares s set amount = 0, since = 'infinity', passed_at = null, paid_by = $5, paid_amount = e.amount,
    paid_since = e.since
  from ended e where s.network = $1 and s.receiver = $2 and s.token = $3 and s.account_id = e.account_id and e.amount > 0`

// A claim that a reorg took back together with its sweep is made again without a round that sees it: so long after the failure.
const markSwept = `
  with swept as (
    update channel_sweeps c set unswept_since = null
    where c.network = $1 and c.receiver = $2 and c.token = $3 and c.credits = $4::bigint and not exists (
      select from channel_sweep_shares s join settlements p on p.id = s.paid_by
      where (s.network, s.receiver, s.token) = (c.network, c.receiver, c.token) and not p.is_final
        and (p.state <> 'failed' or p.closed_at > now() - interval '1 hour'))
    returning c.network, c.receiver, c.token
  )
  delete from channel_sweep_shares s using swept w
  where (s.network, s.receiver, s.token) = (w.network, w.receiver, w.token) and s.last_credit <= $4::bigint`

// In every collation digits come before letters: the index of open authorizations finds those that begin with the name.
const findSweep = `
  select from settlements s where s.authorization_id >= $1::text and s.authorization_id < $1::text || 'z'
    and ${isNotFailed('s')}
    and case when starts_with(s.authorization_id, $1::text)
      then substr(s.authorization_id, length($1::text) + 1)::numeric >= $2::numeric
        and substr(s.authorization_id, length($1::text) + 1)::numeric < $3::numeric end limit 1`

const unswept = z.object({
  network: z.string(),
  receiver: z.string(),
  token: z.string(),
  accountId: z.string(),
  unsweptSince: z.date(),
  credits: z.coerce.bigint(),
})

export const createChannelSweeps = (
  pool: Pool,
): Pick<ChannelLedger, 'listUnswept' | 'passOver' | 'endShares' | 'hasSweep' | 'markSwept'> => ({
  listUnswept: async (network, { limit, after, dueAmount, dueBefore }) => {
    const { rows } = await pool.query(
      `select ${selectColumns('c', unswept.shape, { accountId: 'coalesce(chosen.account_id, c.account_id)' })}
     from channel_sweeps c left join lateral (
       select s.account_id from channel_sweep_shares s ${withUnpaid}
       where (s.network, s.receiver, s.token) = (c.network, c.receiver, c.token)
         and (s.account_id = c.account_id or ${amountOwed} >= $5::numeric or ${owedSince} <= $6::timestamptz)
       order by s.passed_at nulls first, s.account_id = c.account_id desc, ${amountOwed} desc, s.account_id limit 1) chosen on true
     where c.network = $1 and (c.receiver, c.token) > ($2, $3) and c.unswept_since is not null
     order by c.receiver, c.token limit $4`,
      [network, after?.receiver ?? '', after?.token ?? '', limit, dueAmount.toString(), dueBefore],
    )
    return rows.map((value) => unswept.parse(value))
  },

  passOver: async ({ network, receiver, token, accountId }, at) => {
    await pool.query(
      `update channel_sweep_shares set passed_at = $5
     where network = $1 and receiver = $2 and token = $3 and account_id = $4`,
      [network, receiver, token, accountId, at],
    )
  },

  endShares: async ({ network, receiver, token, credits }, settlementId) => {
    await pool.query(endShares, [network, receiver, token, credits, settlementId])
  },

  hasSweep: async (name, { from, below }) =>
    (await pool.query(findSweep, [name, from.toString(), below.toString()])).rowCount === 1,

  markSwept: async ({ network, receiver, token, credits }) => {
    await pool.query(markSwept, [network, receiver, token, credits])
  },
})
