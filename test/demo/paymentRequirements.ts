import type { PaymentRequirements } from '@x402/core/types'
import { z } from 'zod'

const network = z.custom<`${string}:${string}`>((value) => typeof value === 'string' && value.includes(':'))

export const paymentRequirements: z.ZodType<PaymentRequirements> = z.looseObject({
  scheme: z.string(),
  network,
  asset: z.string(),
  amount: z.string(),
  payTo: z.string(),
  maxTimeoutSeconds: z.number(),
  extra: z.record(z.string(), z.unknown()),
})
