import type { Pool } from 'pg'
import { z } from 'zod'
import type { ChannelLedger, RowCost, VerifiedVoucher } from '../../../ports/channelLedger.js'
import { isSetAside } from '../../../protocol/channels.js'
import { coalesce } from '../database/coalesce.js'
import { inTransaction } from '../database/statements.js'
import { hurrySettlement } from '../journal/hurrySettlement.js'
import { createChannelSweeps } from './channelSweeps.js'
import { createChannelWatch } from './channelWatch.js'
import {
  smallestUnits as amount,
  channelColumns as columns,
  enqueueEvents,
  observeChannels,
  channelRow as row,
} from './observeChannels.js'

interface Kept {
  readonly voucher: VerifiedVoucher
  readonly at: Date
}

const nameOf = ({ network, channelId }: Pick<VerifiedVoucher, 'network' | 'channelId'>): string =>
  `${network}/${channelId}`

const chargedBy = ({ ceiling, price }: VerifiedVoucher): bigint => (ceiling > price ? ceiling - price : 0n)

/** One row for each channel: a statement can change it once. */
const mergeKept = (kept: readonly Kept[]) => {
  const merged = new Map<string, Kept & { readonly charged: bigint }>()
  for (const each of kept) {
    const known = merged.get(nameOf(each.voucher))
    const charged = chargedBy(each.voucher)
    if (known === undefined) {
      merged.set(nameOf(each.voucher), { charged, ...each })
      continue
    }
    const isMore = charged > known.charged
    const highest = each.voucher.ceiling > known.voucher.ceiling ? each : known
    merged.set(nameOf(each.voucher), {
      ...highest,
      charged: isMore ? charged : known.charged,
    })
  }
  // In one order, so that no two statements wait for each other.
  return [...merged].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, each]) => each)
}

/** What shows that a channel is in use again, also where its voucher is no higher: a deposit may follow, which must be looked at. */
const isRenewed = `(not v.is_live or excluded.verified_at > v.verified_at + interval '1 hour')`

/** The binding decides to whom a channel belongs: a row of another account is never changed. */
const keep = `
  insert into channel_vouchers as v (network, channel_id, account_id, config, receiver, token, ceiling, signature, price, charged,
    verified_at, bound_at, unclaimed_since)
  select network, channel_id, account_id, config::jsonb, receiver, token, ceiling, signature, price, charged, at, at,
    case when charged > 0 then at end
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::numeric[], $8::text[], $9::numeric[],
    $10::numeric[], $11::timestamptz[])
    as k (network, channel_id, account_id, config, receiver, token, ceiling, signature, price, charged, at)
  on conflict (network, channel_id) do update set
    signature = case when excluded.ceiling > v.ceiling then excluded.signature else v.signature end,
    price = case when excluded.ceiling > v.ceiling then excluded.price else v.price end,
    verified_at = case when excluded.ceiling > v.ceiling or ${isRenewed} then excluded.verified_at else v.verified_at end,
    refusals = case when excluded.ceiling > v.ceiling then 0 else v.refusals end,
    unclaimed_since = case when greatest(excluded.charged, v.charged) > v.claimed
      then coalesce(v.unclaimed_since, excluded.verified_at) else v.unclaimed_since end,
    charged = greatest(excluded.charged, v.charged),
    ceiling = greatest(excluded.ceiling, v.ceiling),
    is_live = true
  where v.account_id = excluded.account_id
    and (excluded.ceiling > v.ceiling or excluded.charged > v.charged or ${isRenewed})`

const keepAll = (pool: Pool) => async (kept: readonly Kept[]) => {
  const merged = mergeKept(kept)
  const each = (read: (value: (typeof merged)[number]) => unknown) => merged.map(read)
  await pool.query(keep, [
    each(({ voucher }) => voucher.network),
    each(({ voucher }) => voucher.channelId),
    each(({ voucher }) => voucher.accountId),
    each(({ voucher }) => JSON.stringify(voucher.config)),
    each(({ voucher }) => voucher.receiver),
    each(({ voucher }) => voucher.token),
    each(({ voucher }) => voucher.ceiling.toString()),
    each(({ voucher }) => voucher.signature),
    each(({ voucher }) => voucher.price.toString()),
    each(({ charged }) => charged.toString()),
    each(({ at }) => at),
  ])
  return kept.map(() => true)
}

// Unclaimed value is looked at in every round, what is merely promised less often. A deposit that backed charged value can be mined
// again after a reorg, or be unknown to a node that is behind; 30 days are the longest delay of a withdrawal.
const isDue = `(v.seen_at is null or v.verified_at > v.seen_at
  or (v.charged > v.claimed and v.balance > v.claimed and (v.unclaimable is null or v.ceiling > v.unclaimable))
  or (v.ceiling > v.claimed and v.seen_at < case when v.balance > v.claimed
    or (v.charged > v.claimed and v.verified_at > $4::timestamptz - interval '30 days')
    then $4::timestamptz else $5::timestamptz end))`

// What cannot be due by the rules above any more, a day after its last voucher: a node that was behind has caught up by then.
const retire = `
  update channel_vouchers set is_live = false where ctid = any(array(
    select d.ctid from channel_vouchers d
    where d.is_live and d.verified_at < $1::timestamptz - interval '1 day' and d.seen_at > d.verified_at
      and (d.ceiling <= d.claimed or d.balance <= d.claimed)
      and (d.charged <= d.claimed or d.verified_at < $1::timestamptz - interval '30 days')
    limit $2 for update skip locked))`

const refuse = `
  update channel_vouchers v set refusals = v.refusals + 1,
    unclaimable = case when v.refusals + 1 >= $4 then v.ceiling else v.unclaimable end
  where v.network = $1 and v.channel_id = $2 and v.ceiling = $3::numeric and v.unclaimable is distinct from v.ceiling
  returning ${columns}`

const total = z.object({
  network: z.string(),
  token: z.string(),
  amount,
  oldestSeconds: z.number(),
  withdrawing: amount,
})

const signerTotal = total
  .omit({ oldestSeconds: true })
  .extend({ receiverAuthorizer: z.string(), channels: z.number() })

/** Rows that owe what is backed; the parameters are the columns of their costs. */
const unclaimed = `(
  select u.*, u.unclaimed >= coalesce(c.cost, 0) and (u.unclaimable is null or u.ceiling > u.unclaimable) as is_worth
  from (select *, least(charged, balance) - claimed as unclaimed from channel_vouchers
    where is_live and charged > claimed and balance > claimed) u
  left join unnest($1::text[], $2::text[], $3::numeric[]) as c (network, token, cost) using (network, token))`

const toColumns = (costs: readonly RowCost[]): string[][] => [
  costs.map(({ network }) => network),
  costs.map(({ token }) => token),
  costs.map(({ cost }) => cost.toString()),
]

export const createChannelLedger = (pool: Pool, views: Pool = pool): ChannelLedger => {
  const keepBatched = coalesce(keepAll(pool))
  return {
    keep: async (voucher, at) => {
      await keepBatched({ voucher, at })
    },

    find: async ({ network, channelId }) => {
      const { rows } = await pool.query(
        `select ${columns} from channel_vouchers v where v.network = $1 and v.channel_id = $2`,
        [network, channelId],
      )
      return rows[0] === undefined ? null : row.parse(rows[0])
    },

    list: async (accountId, { limit, after }) => {
      const { rows } = await views.query(
        `select ${columns} from channel_vouchers v
         where v.account_id = $1 and ($3::text is null or (v.bound_at, v.channel_id)
           < (select c.bound_at, c.channel_id from channel_vouchers c
              where c.network = $3 and c.channel_id = $4 and c.account_id = $1))
         order by v.bound_at desc, v.channel_id desc limit $2`,
        [accountId, limit, after?.network ?? null, after?.channelId ?? null],
      )
      return rows.map((value) => row.parse(value))
    },

    listDue: async (network, { limit, after, onlyWithdrawn = false, seenBefore, emptySeenBefore }) => {
      const { rows } = await pool.query(
        `select ${columns} from channel_vouchers v
         where v.is_live and v.network = $1 and v.channel_id > $2 and ${isDue}
           and ${onlyWithdrawn ? 'v.withdraw_requested_at > 0' : 'true'} order by v.channel_id limit $3`,
        [network, after, limit, seenBefore, emptySeenBefore],
      )
      return rows.map((value) => row.parse(value))
    },

    ...createChannelSweeps(pool),
    ...createChannelWatch(pool),

    observe: observeChannels(pool),

    bindClaim: (network, channels, settlementId) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query(
          `select v.channel_id as "channelId", v.settlement_id as "settlementId" from channel_vouchers v
           where v.network = $1 and v.channel_id = any($2::text[]) order by v.channel_id for update`,
          [network, channels.map(({ channelId }) => channelId)],
        )
        const bound = new Map(
          rows.map((value) => {
            const { channelId, settlementId: current } = row
              .pick({ channelId: true, settlementId: true })
              .parse(value)
            return [channelId, current]
          }),
        )
        if (!channels.every((each) => bound.get(each.channelId) === each.settlementId)) return false
        await client.query(
          'update channel_vouchers set settlement_id = $3 where network = $1 and channel_id = any($2::text[])',
          [network, channels.map(({ channelId }) => channelId), settlementId],
        )
        return true
      }),

    hurryClaim: (claim) => hurrySettlement(pool, claim),

    countRefusal: ({ network, channelId, ceiling }, { reason, limit }) =>
      inTransaction(pool, async (client) => {
        const { rows } = await client.query(refuse, [network, channelId, ceiling.toString(), limit])
        const refused = rows.map((value) => row.parse(value)).filter(isSetAside)
        await enqueueEvents(
          client,
          refused.map((channel) => ({ type: 'channel.unclaimable', channel, reason })),
        )
      }),

    retire: async (at, limit) => (await pool.query(retire, [at, limit])).rowCount ?? 0,

    measureUnclaimed: async (costs) => {
      const { rows } = await views.query(
        `select v.network, v.token, sum(v.unclaimed)::text as amount,
           coalesce(extract(epoch from now() - min(v.unclaimed_since) filter (where v.is_worth)), 0)::float8 as "oldestSeconds",
           coalesce(sum(v.unclaimed) filter (where v.is_worth and v.withdraw_requested_at > 0), 0)::text as withdrawing
         from ${unclaimed} v group by v.network, v.token`,
        toColumns(costs),
      )
      return rows.map((value) => total.parse(value))
    },

    measureSigners: async (costs) => {
      const { rows } = await views.query(
        `select v.network, v.token, coalesce(lower(v.config ->> 'receiverAuthorizer'), '') as "receiverAuthorizer", count(*)::int as channels,
           sum(v.unclaimed)::text as amount,
           coalesce(sum(v.unclaimed) filter (where v.withdraw_requested_at > 0), 0)::text as withdrawing
         from ${unclaimed} v where v.is_worth group by 1, 2, 3 order by 1, 2, 3`,
        toColumns(costs),
      )
      return rows.map((value) => signerTotal.parse(value))
    },
  }
}
