import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import { type ChannelView, channelPage, channelView } from '../../protocol/channels.js'
import { pageQuery } from './queries.js'
import { describeErrors, jsonResponse, keyedErrors } from './responses.js'

export const channelExample = {
  network: 'eip155:8453',
  channelId: '0x544924a10a10b54a1b4389746d7205f08ddd246d58640217673fb24b1430fabe',
  config: {
    payer: '0x1111111111111111111111111111111111111111',
    payerAuthorizer: '0x2222222222222222222222222222222222222222',
    receiver: '0x3333333333333333333333333333333333333333',
    receiverAuthorizer: '0x4444444444444444444444444444444444444444',
    token: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
    withdrawDelay: 900,
    salt: '0x0000000000000000000000000000000000000000000000000000000000000000',
  },
  payer: '0x1111111111111111111111111111111111111111',
  receiver: '0x3333333333333333333333333333333333333333',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  ceiling: '52000',
  charged: '51000',
  balance: '1000000',
  totalClaimed: '40000',
  claimable: '11000',
  withdrawal: '0',
  withdrawRequestedAt: 0,
  isUnclaimable: false,
  boundAt: '2026-01-01T00:00:00.000Z',
  verifiedAt: '2026-01-01T00:02:03.000Z',
  seenAt: '2026-01-01T00:02:10.000Z',
} as const satisfies ChannelView

const tags = ['Channels']
const nameForm = /^[^/]{1,128}\/0x[0-9a-fA-F]{64}$/

export const listChannelsSchema = {
  operationId: 'listChannels',
  tags,
  summary: 'List your channels',
  description:
    'Channels of `batch-settlement` whose vouchers are kept for the account of the API key, newest first.',
  querystring: pageQuery.extend({
    cursor: z
      .string()
      .regex(nameForm, 'must be a nextCursor of this list')
      .optional()
      .meta({ description: '`nextCursor` of the previous page' }),
  }),
  response: {
    200: jsonResponse('A page of channels.', channelPage),
    ...describeErrors(keyedErrors),
  },
} satisfies FastifySchema

export const getChannelSchema = {
  operationId: 'getChannel',
  tags,
  summary: 'Get a channel',
  description: 'Channels of another account do not exist here (404).',
  params: z.object({
    network: z
      .string()
      .min(1)
      .max(128)
      .meta({ description: 'CAIP-2 identifier', examples: [channelExample.network] }),
    channelId: z
      .string()
      .regex(/^0x[0-9a-fA-F]{64}$/, 'must be 32 bytes of hex')
      .meta({ examples: [channelExample.channelId] }),
  }),
  response: {
    200: jsonResponse('The channel as it is known now.', channelView),
    ...describeErrors([...keyedErrors, 'NOT_FOUND']),
  },
} satisfies FastifySchema
