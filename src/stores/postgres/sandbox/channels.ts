import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { shareOfFree } from '../../../concurrency/slots.js'
import type {
  SandboxChannel,
  SandboxChannelChange,
  SandboxChannelStore,
  SandboxExecution,
} from '../../../ports/sandbox.js'
import { inTransaction, purgeExpired } from '../database/statements.js'

const amount = z.string().transform((text) => BigInt(text))

const channelRow = z.object({
  channel_id: z.string(),
  receiver: z.string(),
  token: z.string(),
  balance: amount,
  total_claimed: amount,
  refund_nonce: amount,
})
type ChannelRow = z.infer<typeof channelRow>
const channelColumns = 'channel_id, receiver, token, balance, total_claimed, refund_nonce'

const receiverRow = z.object({ total_claimed: amount, total_settled: amount })
const creditedRow = z.object({ is_credited: z.boolean() })
const roomRow = z.object({ is_reserved: z.boolean(), is_full: z.boolean() })

const executionResult = z
  .object({
    amount,
    channel: z.object({ balance: amount, totalClaimed: amount, refundNonce: amount }).nullable(),
  })
  .nullable()
const executionRow = z.object({ result: executionResult })

const lifetime = "interval '7 days'"
// Until its deposit is executed.
const reservedLifetime = "interval '1 hour'"
const executionLifetime = "interval '1 day'"
const isLive = 'expires_at > now()'

const toChannel = ({ balance, total_claimed, refund_nonce }: ChannelRow): SandboxChannel => ({
  balance,
  totalClaimed: total_claimed,
  refundNonce: refund_nonce,
})

/** What the contract would revert: the transaction is rolled back to before the change. */
class Reverted extends Error {}

type Change<Type extends SandboxChannelChange['type']> = Extract<
  SandboxChannelChange,
  { readonly type: Type }
>

/** `maximum`: live channels of all callers; each holder may open an eighth of what is free. */
export const createSandboxChannels = (pool: Pool, maximum: number): SandboxChannelStore => {
  const isKnown = async (network: string, channelId: string): Promise<boolean> => {
    const { rows } = await pool.query(
      `select 1 from sandbox_channels where network = $1 and channel_id = $2 and ${isLive}`,
      [network, channelId],
    )
    return rows.length > 0
  }

  return {
    find: async (network, channelIds) => {
      const { rows } = await pool.query(
        `select ${channelColumns} from sandbox_channels
         where network = $1 and channel_id = any($2::text[]) and ${isLive}`,
        [network, channelIds],
      )
      const found = rows.map((each) => channelRow.parse(each))
      return new Map(found.map((each) => [each.channel_id, toChannel(each)]))
    },

    findReceiver: async (network, receiver, token) => {
      const { rows } = await pool.query(
        `select total_claimed, total_settled from sandbox_receivers
         where network = $1 and receiver = $2 and token = $3 and ${isLive}`,
        [network, receiver, token],
      )
      if (rows.length === 0) return { totalClaimed: 0n, totalSettled: 0n }
      const { total_claimed: totalClaimed, total_settled: totalSettled } = receiverRow.parse(rows[0])
      return { totalClaimed, totalSettled }
    },

    reserve: async (network, { channelId, receiver, token }, holders) => {
      if (await isKnown(network, channelId)) return 'reserved'
      const { rows } = await pool.query(
        `with counted as (select count(*) as live from sandbox_channels where ${isLive}),
         made as (
           insert into sandbox_channels (network, channel_id, receiver, token, holders, expires_at)
           select $1, $2, $3, $4, $6::text[], now() + ${reservedLifetime} from counted
           where live < $5 and not exists (
             select from sandbox_channels, unnest(holders) holder
             where ${isLive} and holder = any($6::text[])
             group by holder having count(*) * ${shareOfFree} >= $5 - live)
           on conflict (network, channel_id) do update
             set balance = 0, total_claimed = 0, refund_nonce = 0, receiver = excluded.receiver, token = excluded.token,
               holders = excluded.holders, expires_at = excluded.expires_at
             where sandbox_channels.expires_at <= now()
           returning 1)
         select exists (select from made) as is_reserved, live >= $5 as is_full from counted`,
        [network, channelId, receiver, token, maximum, holders],
      )
      const { is_reserved, is_full } = roomRow.parse(rows[0])
      // Another request may have made it meanwhile.
      if (is_reserved || (await isKnown(network, channelId))) return 'reserved'
      return is_full ? 'full' : 'share'
    },

    execute: (network, transaction, change) =>
      inTransaction(pool, async (client) => {
        // A second execution waits here until the first one is committed.
        const { rowCount } = await client.query(
          `insert into sandbox_executions (network, transaction, expires_at)
           values ($1, $2, now() + ${executionLifetime}) on conflict do nothing`,
          [network, transaction],
        )
        if (rowCount === 0) return await readExecution(client, network, transaction)
        await client.query('savepoint change')
        const result = await applyChange(client, network, change).catch(async (error: unknown) => {
          if (!(error instanceof Reverted)) throw error
          await client.query('rollback to savepoint change')
          return null
        })
        await client.query(
          'update sandbox_executions set result = $3 where network = $1 and transaction = $2',
          [network, transaction, result === null ? null : formatExecution(result)],
        )
        return result
      }),

    findExecution: (network, transaction) => readExecution(pool, network, transaction),

    purge: async (stopped) => {
      await purgeExpired(pool, 'sandbox_channels', { stopped })
      await purgeExpired(pool, 'sandbox_receivers', { stopped })
      // What is resolved later would be executed again.
      const unless = `(exists (select from settlements s where s.network = sandbox_executions.network
          and s.transaction = sandbox_executions.transaction and s.state = 'pending')
        or exists (select from broadcast_settlements c join settlements s on s.id = c.settlement_id
          where c.network = sandbox_executions.network and c.transaction = sandbox_executions.transaction
            and s.state = 'pending'))`
      await purgeExpired(pool, 'sandbox_executions', { stopped, unless })
    },
  }
}

const readExecution = async (
  client: Pick<Pool, 'query'>,
  network: string,
  transaction: string,
): Promise<SandboxExecution | null> => {
  const { rows } = await client.query(
    'select result from sandbox_executions where network = $1 and transaction = $2',
    [network, transaction],
  )
  return rows.length === 0 ? null : executionRow.parse(rows[0]).result
}

const formatExecution = (result: SandboxExecution): string =>
  JSON.stringify(result, (_key, value: unknown) => (typeof value === 'bigint' ? `${value}` : value))

const applyChange = async (
  client: PoolClient,
  network: string,
  change: SandboxChannelChange,
): Promise<SandboxExecution> => {
  switch (change.type) {
    case 'deposit':
      return await deposit(client, network, change)
    case 'claim':
      await claim(client, network, change.rows)
      return { amount: 0n, channel: null }
    case 'settle':
      return await sweep(client, network, change)
    case 'refund':
      return await refund(client, network, change)
  }
}

const maxUint128 = `${2n ** 128n - 1n}`

/** The room of a channel that is new may have expired since it was reserved. */
const deposit = async (
  client: PoolClient,
  network: string,
  { channelId, receiver, token, amount: deposited }: Change<'deposit'>,
): Promise<SandboxExecution> => {
  const { rows } = await client.query(
    `insert into sandbox_channels as c (network, channel_id, receiver, token, balance, expires_at)
     values ($1, $2, $3, $4, $5, now() + ${lifetime})
     on conflict (network, channel_id) do update set
       balance = case when c.${isLive} then c.balance else 0 end + excluded.balance,
       total_claimed = case when c.${isLive} then c.total_claimed else 0 end,
       refund_nonce = case when c.${isLive} then c.refund_nonce else 0 end,
       expires_at = excluded.expires_at
     where c.balance + excluded.balance <= ${maxUint128}
     returning ${channelColumns}`,
    [network, channelId, receiver, token, `${deposited}`],
  )
  if (rows.length === 0) throw new Reverted()
  return { amount: deposited, channel: toChannel(channelRow.parse(rows[0])) }
}

const lockChannels = async (
  client: PoolClient,
  network: string,
  channelIds: readonly string[],
): Promise<readonly ChannelRow[]> => {
  // In one order, so that two claims never wait for each other.
  const { rows } = await client.query(
    `select ${channelColumns} from sandbox_channels
     where network = $1 and channel_id = any($2::text[]) and ${isLive} order by channel_id for update`,
    [network, channelIds],
  )
  return rows.map((each) => channelRow.parse(each))
}

/** Credits receivers with what totals rise by. Their totals are uint128 as well. */
const claim = async (
  client: PoolClient,
  network: string,
  claimed: Change<'claim'>['rows'],
): Promise<void> => {
  const ids = [...new Set(claimed.map(({ channelId }) => channelId))]
  const known = new Map((await lockChannels(client, network, ids)).map((each) => [each.channel_id, each]))
  const gains = new Map<string, { readonly channel: ChannelRow; readonly total: bigint }>()
  for (const { channelId, total } of claimed) {
    const channel = known.get(channelId)
    if (channel === undefined || total > channel.balance) throw new Reverted()
    if (total > (gains.get(channelId)?.total ?? channel.total_claimed))
      gains.set(channelId, { channel, total })
  }
  if (gains.size === 0) return
  const raised = [...gains.values()]
  const { rows } = await client.query(
    `with raised as (
       select * from unnest($2::text[], $3::numeric[]) as r (channel_id, total)),
     changed as (
       update sandbox_channels c set total_claimed = r.total, expires_at = now() + ${lifetime}
       from raised r where c.network = $1 and c.channel_id = r.channel_id),
     credited as (
       select c.receiver, c.token, sum(r.total - c.total_claimed) as gain
       from raised r join sandbox_channels c on c.network = $1 and c.channel_id = r.channel_id
       group by c.receiver, c.token),
     made as (
       insert into sandbox_receivers as s (network, receiver, token, total_claimed, expires_at)
       select $1, receiver, token, gain, now() + ${lifetime} from credited
       where gain <= ${maxUint128} order by receiver, token
       on conflict (network, receiver, token) do update set
         total_claimed = case when s.${isLive} then s.total_claimed else 0 end + excluded.total_claimed,
         total_settled = case when s.${isLive} then s.total_settled else 0 end,
         expires_at = excluded.expires_at
       where case when s.${isLive} then s.total_claimed else 0 end + excluded.total_claimed <= ${maxUint128}
       returning 1)
     select (select count(*) from made) = (select count(*) from credited) as is_credited`,
    [network, raised.map(({ channel }) => channel.channel_id), raised.map(({ total }) => `${total}`)],
  )
  if (!creditedRow.parse(rows[0]).is_credited) throw new Reverted()
}

/** Pays all that was claimed, also what was claimed since the sweep was verified. */
const sweep = async (
  client: PoolClient,
  network: string,
  { receiver, token }: Change<'settle'>,
): Promise<SandboxExecution> => {
  const { rows } = await client.query(
    `select total_claimed, total_settled from sandbox_receivers
     where network = $1 and receiver = $2 and token = $3 and ${isLive} for update`,
    [network, receiver, token],
  )
  if (rows.length === 0) throw new Reverted()
  const { total_claimed, total_settled } = receiverRow.parse(rows[0])
  if (total_claimed === total_settled) throw new Reverted()
  await client.query(
    `update sandbox_receivers set total_settled = total_claimed, expires_at = now() + ${lifetime}
     where network = $1 and receiver = $2 and token = $3`,
    [network, receiver, token],
  )
  return { amount: total_claimed - total_settled, channel: null }
}

const refund = async (
  client: PoolClient,
  network: string,
  { channelId, nonce, amount: asked, rows: claimed }: Change<'refund'>,
): Promise<SandboxExecution> => {
  await claim(client, network, claimed)
  const [channel] = await lockChannels(client, network, [channelId])
  if (channel === undefined || channel.refund_nonce !== nonce) throw new Reverted()
  const free = channel.balance - channel.total_claimed
  const returned = asked < free ? asked : free
  if (returned <= 0n) throw new Reverted()
  const { rows } = await client.query(
    `update sandbox_channels set balance = balance - $3, refund_nonce = refund_nonce + 1, expires_at = now() + ${lifetime}
     where network = $1 and channel_id = $2 returning ${channelColumns}`,
    [network, channelId, `${returned}`],
  )
  return { amount: returned, channel: toChannel(channelRow.parse(rows[0])) }
}
