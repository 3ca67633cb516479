import { z } from 'zod'
import type { HeldPayment } from '../../../ports/heldPayments.js'
import { atDeadline, heldStatus } from '../../../protocol/heldPayments.js'
import { selectColumns } from '../database/statements.js'

export const amount = z.string().transform(BigInt)

const row = z.object({
  id: z.string(),
  network: z.string(),
  hash: z.string(),
  accountId: z.string(),
  authorizationId: z.string(),
  payer: z.string(),
  payTo: z.string(),
  asset: z.string(),
  amount,
  captureDeadline: z.date(),
  refundDeadline: z.date(),
  terms: z.record(z.string(), z.json()),
  status: heldStatus,
  capturable: amount,
  refundable: amount,
  captured: amount,
  refunded: amount,
  createdAt: z.date(),
  atDeadline,
  isWarned: z.boolean(),
})

/** Columns of `held_payments h` for `readHeld`. */
export const columns = selectColumns('h', row.shape, {
  isWarned: 'h.warned_at is not null',
  atDeadline: "coalesce(h.at_deadline, 'nothing')",
})

export const readHeld = (value: unknown): HeldPayment => row.parse(value)
