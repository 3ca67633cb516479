import type { FastifySchema } from 'fastify'
import { z } from 'zod'
import type { ErrorCode } from '../../errors.js'
import {
  creditNetwork,
  creditRanking,
  creditScore,
  maxCreditRanks,
  refreshedCreditScore,
  walletText,
} from '../../protocol/credit.js'
import { describeLimit, limitText } from './queries.js'
import { bodyErrors, describeErrors, jsonResponse } from './responses.js'

const readErrors = [
  'INVALID_REQUEST',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]
const refreshErrors = [...readErrors, 'UNAUTHORIZED', 'FORBIDDEN', ...bodyErrors] as const

const givenWallet = z.strictObject({ wallet: walletText.optional(), network: creditNetwork.optional() })

export type GivenWallet = z.infer<typeof givenWallet>

const wallet = '0x18f77dd01186556f1f745e7847a4686421dee072'
const summary = {
  wallet,
  namespace: 'eip155',
  score: 573,
  breakdown: { volumeScore: 162, frequencyScore: 157, reliabilityScore: 242, ageScore: 12 },
  stats: {
    paymentCount: 42,
    successRate: 0.9545454545454546,
    totalVolume: '1250000000',
    accountAgeDays: 31,
    payeeCount: 6,
    failureCount: 2,
    cyclePaymentCount: 0,
    returnedVolume: '0',
  },
}
const score = {
  ...summary,
  explanation: ['ageScore is 12 of 150: the first payment is 31 days old, and 365 days give all points.'],
  improvements: [{ part: 'ageScore', points: 37, action: 'Wait 60 days.' }],
}

export const getCreditScoreSchema = {
  operationId: 'getCreditScore',
  tags: ['Credit'],
  summary: 'Credit score of a wallet',
  description:
    'From 0 to 1,000, from the payments that the wallet settled through this facilitator, up to the last one, for all ' +
    'accounts together. Public: payments can be read from the chain as well, failures only here. A wallet that never ' +
    'paid has 0.',
  querystring: z.strictObject({ wallet: walletText, network: creditNetwork.optional() }),
  response: {
    200: jsonResponse('The score, its parts, and how it came about.', creditScore, {
      score: { value: score },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema

export const refreshCreditScoreSchema = {
  operationId: 'refreshCreditScore',
  tags: ['Credit'],
  summary: 'Recount the credit score of a wallet',
  description:
    'Counts the settlements of the wallet again and corrects its figures if they differ. Scores are up to date without ' +
    'it. The wallet is given in the query or in the body.',
  querystring: givenWallet,
  body: givenWallet.nullish(),
  response: {
    200: jsonResponse('The score after the recount.', refreshedCreditScore, {
      score: { value: { ...score, refresh: { isComplete: true, repairs: 0 } } },
    }),
    ...describeErrors(refreshErrors),
  },
  'x-reference': {
    request: { wallet: { value: { wallet: '0x18f77dd01186556F1F745E7847A4686421dEE072' } } },
  },
} satisfies FastifySchema

export const listTopWalletsSchema = {
  operationId: 'listTopWallets',
  tags: ['Credit'],
  summary: 'Wallets with the highest credit scores',
  description:
    'By score, the highest first; at most a second behind settlements. Wallets without points are left out.',
  querystring: z.strictObject({
    limit: limitText(maxCreditRanks)
      .default(10)
      .meta(describeLimit('Wallets', 10, maxCreditRanks)),
  }),
  response: {
    200: jsonResponse('The wallets, the best first.', creditRanking, {
      ranking: { value: { wallets: [{ rank: 1, ...summary }] } },
    }),
    ...describeErrors(readErrors),
  },
} satisfies FastifySchema
