import type { Pool } from 'pg'
import { z } from 'zod'
import type {
  BoundChannel,
  ChannelCustody,
  ChannelName,
  SignedRefund,
} from '../../../ports/channelCustody.js'
import { coalesce } from '../database/coalesce.js'

/** A payer that deposits has a channel or two; one that only signs could fill the table. */
const maxUnfundedOfPayer = 100

const owned = z.object({ network: z.string(), channel_id: z.string(), account: z.string() })

const toBytes = (channelId: string): Buffer => Buffer.from(channelId.slice(2), 'hex')

const findAll = async (pool: Pool, channels: readonly ChannelName[]): Promise<readonly (string | null)[]> => {
  const { rows } = await pool.query(
    `select network, '0x' || encode(channel_id, 'hex') as channel_id, account from channel_custody
     where (network, channel_id) in (select * from unnest($1::text[], $2::bytea[]))`,
    [channels.map(({ network }) => network), channels.map(({ channelId }) => toBytes(channelId))],
  )
  const accounts = new Map(
    rows.map((row) => owned.parse(row)).map((row) => [`${row.network} ${row.channel_id}`, row.account]),
  )
  return channels.map(({ network, channelId }) => accounts.get(`${network} ${channelId}`) ?? null)
}

const signedRefund = owned.omit({ account: true }).extend({
  nonce: z.string().transform(BigInt),
  amount: z.string().transform(BigInt),
})

const findAllRefunds = async (
  pool: Pool,
  channels: readonly ChannelName[],
): Promise<readonly (SignedRefund | null)[]> => {
  const { rows } = await pool.query(
    `select network, '0x' || encode(channel_id, 'hex') as channel_id, refund_nonce as nonce, refund_amount as amount
     from channel_custody
     where refund_nonce is not null and (network, channel_id) in (select * from unnest($1::text[], $2::bytea[]))`,
    [channels.map(({ network }) => network), channels.map(({ channelId }) => toBytes(channelId))],
  )
  const refunds = new Map(
    rows.map((row) => signedRefund.parse(row)).map((row) => [`${row.network} ${row.channel_id}`, row]),
  )
  return channels.map(({ network, channelId }) => {
    const found = refunds.get(`${network} ${channelId}`)
    return found === undefined ? null : { nonce: found.nonce, amount: found.amount }
  })
}

export const createChannelCustody = (pool: Pool): ChannelCustody => {
  const find = coalesce((channels: readonly ChannelName[]) => findAll(pool, channels))
  const findRefund = coalesce((channels: readonly ChannelName[]) => findAllRefunds(pool, channels))

  const isReceiverOfOther = async ({ network, receiver, account }: BoundChannel): Promise<boolean> => {
    const { rowCount } = await pool.query(
      'select from recipient_statements where network = $1 and pay_to = $2 and account_id::text <> $3',
      [network, receiver, account],
    )
    return rowCount !== 0
  }

  /** One that was bound before money was in it counts as unfunded until this. */
  const markFunded = async ({ network, channelId }: ChannelName): Promise<void> => {
    await pool.query(
      `update channel_custody set funded_at = now()
       where network = $1 and channel_id = $2 and funded_at is null`,
      [network, toBytes(channelId)],
    )
  }

  const insert = async (channel: BoundChannel, isFunded: boolean): Promise<boolean> => {
    const { rowCount } = await pool.query(
      `insert into channel_custody (network, channel_id, account, payer, payer_authorizer, receiver,
         receiver_authorizer, token, withdraw_delay, salt, funded_at)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, case when $11 then now() end
       where $11 or (select count(*) from (select from channel_custody
         where account = $3 and payer = $4 and funded_at is null limit $12) unfunded) < $12
       on conflict (network, channel_id) do nothing`,
      [
        channel.network,
        toBytes(channel.channelId),
        channel.account,
        channel.payer,
        channel.payerAuthorizer,
        channel.receiver,
        channel.receiverAuthorizer,
        channel.token,
        channel.withdrawDelay,
        channel.salt,
        isFunded,
        maxUnfundedOfPayer,
      ],
    )
    return rowCount === 1
  }

  return {
    findAccounts: (channels) => Promise.all(channels.map(find)),
    bind: async (channel, { isFunded }) => {
      const known = await find(channel)
      if (known === null) {
        if (await isReceiverOfOther(channel)) return { refused: 'claimed' }
        if (await insert(channel, isFunded)) return { account: channel.account }
      }
      // Another request has bound it meanwhile, or too many are unfunded.
      const account = known ?? (await find(channel))
      if (account === null) return { refused: 'full' }
      if (isFunded) await markFunded(channel)
      return { account }
    },
    recordRefund: async ({ network, channelId }, { nonce, amount }) => {
      // A lower nonce than before is that of a reorg, which made both refunds possible again.
      const { rowCount } = await pool.query(
        `update channel_custody set refund_nonce = greatest(refund_nonce, $3::numeric),
           refund_amount = case when refund_nonce = $3::numeric then greatest(refund_amount, $4::numeric)
             when refund_nonce > $3::numeric then refund_amount + $4::numeric else $4::numeric end
         where network = $1 and channel_id = $2`,
        [network, toBytes(channelId), nonce.toString(), amount.toString()],
      )
      if (rowCount !== 1) throw new Error('No refund is signed for a channel that is not bound')
    },
    findRefund,
  }
}
