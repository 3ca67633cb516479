import { z } from 'zod'

/** A response to a client; times in Unix milliseconds. */
export interface Answer {
  readonly payment: string
  readonly authorizationId: string
  readonly instance: string
  /** Idempotency-Key. */
  readonly key: string | null
  /** Deliverer of a success: one per key, or one per request without a key. */
  readonly consumer: string
  readonly sentAt: number
  readonly receivedAt: number
  /** Null: no response, `text` is the reason. */
  readonly status: number | null
  readonly text: string
}

/**
 * `paid`: this consumer may deliver.
 * `failed`: no funds moved, and nothing sent so far can move them (also 409 PREVIOUS_REQUEST_FAILED).
 * `open`: `settlement_pending`, or `duplicate_settlement` (paid for another request).
 * `undecided`: 5xx, 429, 409 REQUEST_IN_PROGRESS, or no response: retry.
 * `rejected`: any other status; always wrong, because the load is valid.
 */
type Claim = 'paid' | 'failed' | 'open' | 'undecided' | 'rejected'

const settleAnswer = z.object({
  success: z.boolean(),
  errorReason: z.string().optional(),
  transaction: z.string(),
  settlementId: z.string().optional(),
})
const errorAnswer = z.object({ code: z.string() })

const openReasons: readonly string[] = ['settlement_pending', 'duplicate_settlement']

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

export const isFinal = (answer: Answer): boolean => {
  const claim = readClaim(answer)
  return claim === 'open'
    ? readSettleResponse(answer)?.errorReason === 'duplicate_settlement'
    : claim !== 'undecided'
}

/** Null unless the status is 200. */
export const readSettleResponse = ({ status, text }: Answer): z.infer<typeof settleAnswer> | null =>
  status === 200 ? settleAnswer.parse(JSON.parse(text)) : null

const readCode = (text: string): string | null => {
  const parsed = errorAnswer.safeParse(JSON.parse(text))
  return parsed.success ? parsed.data.code : null
}
