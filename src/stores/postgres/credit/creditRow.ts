import { z } from 'zod'
import type { WalletFacts } from '../../../ports/creditStore.js'

export const factColumns = `w.wallet, w.payments, w.volume::text, w.capped_payments, w.capped_volume::text, w.payees,
  w.cycle_payments, w.failures, w.first_at`

const row = z.object({
  wallet: z.string(),
  payments: z.coerce.number(),
  volume: z.string().transform(BigInt),
  capped_payments: z.coerce.number(),
  capped_volume: z.string().transform(BigInt),
  payees: z.coerce.number(),
  cycle_payments: z.coerce.number(),
  failures: z.coerce.number(),
  first_at: z.date().nullable(),
})

export const readFacts = (value: unknown): WalletFacts => {
  const found = row.parse(value)
  return {
    wallet: found.wallet,
    facts: {
      payments: found.payments,
      volume: found.volume,
      cappedPayments: found.capped_payments,
      cappedVolume: found.capped_volume,
      payees: found.payees,
      cyclePayments: found.cycle_payments,
      failures: found.failures,
      firstAt: found.first_at,
    },
  }
}
