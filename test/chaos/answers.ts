import { z } from 'zod'

/** What a client was told, and when; times in Unix milliseconds. */
export interface Answer {
  readonly payment: string
  readonly authorizationId: string
  readonly instance: string
  /** The Idempotency-Key, or null. */
  readonly key: string | null
  /** Who would deliver for a success: one for all requests with a key, one for each without. */
  readonly consumer: string
  readonly sentAt: number
  readonly receivedAt: number
  /** Null: no answer, for the reason in `text`. */
  readonly status: number | null
  readonly text: string
}

/**
 * What an answer claims of the authorization.
 *
 * - `paid`: 200 with `success: true`. This consumer may deliver.
 * - `failed`: a 200 with `success: false` and any reason but the two below, or 409 PREVIOUS_REQUEST_FAILED: the
 *   money has not moved and nothing that was sent up to now can move it. This includes
 *   `invalid_exact_evm_nonce_already_used`: whoever hears it may ask the payer for another payment.
 * - `open`: `settlement_pending` (sent, unknown) and `duplicate_settlement` (real, but not yours to deliver for).
 * - `undecided`: every 5xx, 429 and 409 REQUEST_IN_PROGRESS: ask again. No answer at all counts the same.
 * - `rejected`: any other status. The load is valid, so nobody may be told this.
 */
export type Claim = 'paid' | 'failed' | 'open' | 'undecided' | 'rejected'

const settleAnswer = z.object({
  success: z.boolean(),
  errorReason: z.string().optional(),
  transaction: z.string(),
  settlementId: z.string().optional(),
})
const errorAnswer = z.object({ code: z.string() })

const openReasons: readonly string[] = ['settlement_pending', 'duplicate_settlement']

/** Reads what an answer claims. */
export const readClaim = ({ status, text }: Answer): Claim => {
  if (status === null || status >= 500 || status === 429) return 'undecided'
  if (status === 409) {
    switch (readCode(text)) {
      case 'PREVIOUS_REQUEST_FAILED':
        return 'failed'
      case 'REQUEST_IN_PROGRESS':
        return 'undecided'
      default:
        return 'rejected'
    }
  }
  if (status !== 200) return 'rejected'
  const { success, errorReason = '' } = settleAnswer.parse(JSON.parse(text))
  if (success) return 'paid'
  return openReasons.includes(errorReason) ? 'open' : 'failed'
}

/** Whether asking again can bring another answer. */
export const isFinal = (answer: Answer): boolean => {
  const claim = readClaim(answer)
  return claim === 'open'
    ? readSettleAnswer(answer)?.errorReason === 'duplicate_settlement'
    : claim !== 'undecided'
}

/** The fields of a 200, or null. */
export const readSettleAnswer = ({ status, text }: Answer): z.infer<typeof settleAnswer> | null =>
  status === 200 ? settleAnswer.parse(JSON.parse(text)) : null

const readCode = (text: string): string | null => {
  const parsed = errorAnswer.safeParse(JSON.parse(text))
  return parsed.success ? parsed.data.code : null
}
