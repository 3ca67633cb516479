import { z } from 'zod'
import { creditWeights } from './creditWeights.js'

/** What counts of one payee, in millionths of a US dollar. */
export const creditLimits = {
  /** A payment below it does not count. */
  leastVolume: 10_000n,
  paymentsPerPayee: 10,
  volumePerPayee: 1_000_000_000n,
} as const

type CreditPart = keyof typeof creditWeights

export const maxCreditRanks = 100

const part = (name: CreditPart, description: string) =>
  z.int().min(0).max(creditWeights[name]).meta({ description })

const breakdown = z
  .object({
    volumeScore: part('volume', 'From the volume, on a logarithmic scale'),
    frequencyScore: part('frequency', 'From the number of payments, on a logarithmic scale'),
    reliabilityScore: part('reliability', 'From the share of payments that did not fail'),
    ageScore: part('age', 'From the days since the first payment'),
  })
  .meta({ id: 'CreditBreakdown' })

const stats = z
  .object({
    paymentCount: z.int().meta({ description: 'Payments that count' }),
    successRate: z.number().min(0).max(1).meta({ description: '0 without payments' }),
    totalVolume: z.string().meta({
      description:
        'Of the payments that count, in millionths of a US dollar: the smallest unit of USDC and USDT',
    }),
    accountAgeDays: z.int().meta({ description: 'Whole days since the first payment that counts' }),
    payeeCount: z.int().meta({ description: 'Wallets that received a payment that counts' }),
    failureCount: z.int().meta({ description: "Authorizations that failed by the payer's fault" }),
    cyclePaymentCount: z.int().meta({
      description:
        'Payments that do not count because what they paid came back, directly or through one other wallet',
    }),
    returnedVolume: z.string().meta({
      description: 'What came back, and does not count, in millionths of a US dollar',
    }),
  })
  .meta({ id: 'CreditStatistics' })

const namespace = z.string().meta({ description: 'CAIP-2 namespace of the networks of the wallet' })

const summary = z.object({
  wallet: z.string().meta({ description: 'Address in its normal spelling: hex in lower case' }),
  namespace,
  score: z.int().min(0).max(1_000),
  breakdown,
  stats,
})

export const creditScore = summary
  .extend({
    explanation: z
      .array(z.string())
      .readonly()
      .meta({ description: 'How each part came about, in sentences' }),
    improvements: z
      .array(
        z.object({
          part: z.enum(['volumeScore', 'frequencyScore', 'reliabilityScore', 'ageScore']),
          points: z.int().meta({ description: 'What the part would be' }),
          action: z.string(),
        }),
      )
      .readonly()
      .meta({ description: 'What would raise the score' }),
  })
  .meta({ id: 'CreditScore' })

export type CreditScore = z.infer<typeof creditScore>

export const refreshedCreditScore = creditScore
  .extend({
    refresh: z.object({
      isComplete: z.boolean().meta({
        description:
          'False: the wallet has too many settlements to compare them in time; its figures are as before',
      }),
      repairs: z
        .int()
        .meta({ description: 'Figures that the recount corrected; 0 unless something is wrong' }),
    }),
  })
  .meta({ id: 'RefreshedCreditScore' })

export type RefreshedCreditScore = z.infer<typeof refreshedCreditScore>

export const creditRanking = z
  .object({
    wallets: z.array(summary.extend({ rank: z.int() })).readonly(),
  })
  .meta({ id: 'CreditRanking' })

export type CreditRanking = z.infer<typeof creditRanking>

export const walletText = z
  .string()
  .min(1)
  .max(200)
  .meta({
    description: 'Address of a payer, in any form that its network accepts',
    examples: ['0x18f77dd01186556F1F745E7847A4686421dEE072'],
  })

export const creditNetwork = z
  .string()
  .min(1)
  .max(100)
  .meta({
    description: 'Network of the wallet, for an address that is one of several families; default: any',
    examples: ['eip155:84532'],
  })
