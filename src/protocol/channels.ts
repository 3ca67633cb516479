import { z } from 'zod'
import type { JsonObject } from './fields.js'
import { nextCursor } from './results.js'

/* Channels of `batch-settlement` whose vouchers this facilitator keeps: answers, and data of their events. */

export const channelEvents = [
  'channel.withdrawal_requested',
  'channel.near_cap',
  'channel.unclaimable',
] as const
export type ChannelEvent = (typeof channelEvents)[number]

const units = (description: string) => z.string().meta({ description: `${description}, in smallest units` })

export const channelView = z
  .object({
    network: z.string().meta({ description: 'CAIP-2 identifier' }),
    channelId: z.string(),
    config: z.looseObject({}).meta({ description: 'What the id is the hash of' }),
    payer: z.string(),
    receiver: z.string(),
    asset: z.string(),
    ceiling: units('The highest that the payer signed'),
    charged: units('What was charged for sure: the highest ceiling less price of all vouchers'),
    balance: units('Deposits less refunds and withdrawals, as last seen').optional(),
    totalClaimed: units('What was claimed, as last seen'),
    claimable: units('What is claimed next: charged, backed and not claimed'),
    withdrawal: units('What the payer withdraws, as last seen'),
    withdrawRequestedAt: z.int().meta({ description: 'Unix seconds; 0: no withdrawal is pending' }),
    withdrawableAt: z.int().optional().meta({ description: 'When the withdrawal can be executed' }),
    isUnclaimable: z
      .boolean()
      .meta({ description: 'Whether the voucher was refused too often; a higher one is claimed again' }),
    settlementId: z
      .string()
      .optional()
      .meta({ description: 'The claim that is under way, or was last: for GET /v1/settlements/{id}' }),
    boundAt: z.iso.datetime().meta({ description: 'When its first voucher was kept' }),
    verifiedAt: z.iso.datetime().meta({
      description: 'When a voucher was last verified; a lower or repeated one counts an hour later',
    }),
    seenAt: z.iso.datetime().optional().meta({ description: 'When the chain was looked at' }),
  })
  .meta({ id: 'Channel' })
export type ChannelView = z.infer<typeof channelView>

export const channelPage = z
  .object({
    channels: z.array(channelView).meta({ description: 'Newest first' }),
    nextCursor,
  })
  .meta({ id: 'ChannelPage' })
export type ChannelPage = z.infer<typeof channelPage>

interface ChannelFacts {
  readonly network: string
  readonly channelId: string
  readonly config: JsonObject
  readonly receiver: string
  readonly token: string
  readonly ceiling: bigint
  readonly charged: bigint
  readonly claimed: bigint
  readonly balance: bigint | null
  readonly withdrawal: bigint
  readonly withdrawRequestedAt: number
  readonly unclaimable: bigint | null
  readonly settlementId: string | null
  readonly boundAt: Date
  readonly verifiedAt: Date
  readonly seenAt: Date | null
}

/** What a claim raises the channel to: what an orphaned deposit would have paid for is not claimed. */
export const findClaimTotal = ({ charged, balance }: Pick<ChannelFacts, 'charged' | 'balance'>): bigint => {
  const backed = balance ?? 0n
  return charged < backed ? charged : backed
}

export const isSetAside = ({ ceiling, unclaimable }: Pick<ChannelFacts, 'ceiling' | 'unclaimable'>) =>
  unclaimable !== null && ceiling <= unclaimable

export const viewChannel = (channel: ChannelFacts): ChannelView => {
  const { config, balance, claimed, withdrawRequestedAt, settlementId, seenAt } = channel
  const claimable = isSetAside(channel) ? 0n : findClaimTotal(channel) - claimed
  return {
    network: channel.network,
    channelId: channel.channelId,
    config,
    payer: String(config.payer ?? ''),
    receiver: channel.receiver,
    asset: channel.token,
    ceiling: channel.ceiling.toString(),
    charged: channel.charged.toString(),
    ...(balance === null ? {} : { balance: balance.toString() }),
    totalClaimed: claimed.toString(),
    claimable: (claimable > 0n ? claimable : 0n).toString(),
    withdrawal: channel.withdrawal.toString(),
    withdrawRequestedAt,
    ...(withdrawRequestedAt === 0
      ? {}
      : { withdrawableAt: withdrawRequestedAt + Number(config.withdrawDelay ?? 0) }),
    isUnclaimable: isSetAside(channel),
    ...(settlementId === null ? {} : { settlementId }),
    boundAt: channel.boundAt.toISOString(),
    verifiedAt: channel.verifiedAt.toISOString(),
    ...(seenAt === null ? {} : { seenAt: seenAt.toISOString() }),
  }
}
