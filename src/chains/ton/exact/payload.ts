import type { Address } from '@ton/core'
import { z } from 'zod'
import { describeIssue } from '../../../protocol/describeIssue.js'
import { maxBase64Length, readAddress } from '../encoding/cells.js'

const boc = z.string().min(1).max(maxBase64Length)
const addressText = z.string().min(1).max(128)
const digits = z.string().regex(/^[0-9]{1,78}$/)

const clientPaidProof = z.object({
  signedBoc: boc,
  /**
   * What moves money, as the client wrote it: compared, never trusted. Clients write their own clock and seqno beside it
   * before the wallet signs, so those are not read.
   */
  authorization: z.object({
    from: addressText,
    to: addressText,
    jettonMaster: addressText,
    jettonAmount: digits,
  }),
})

const sponsoredProof = z.object({ settlementBoc: boc, asset: addressText })

export type ClientPaidProof = z.infer<typeof clientPaidProof>

export type SponsoredProof = z.infer<typeof sponsoredProof>

export type ExactProof = ClientPaidProof | SponsoredProof

/** The form is chosen by the field that is present; a problem names the field. */
export const readExactProof = (
  payload: Readonly<Record<string, unknown>>,
): { readonly proof: ExactProof } | { readonly problem: string } => {
  const shape = 'settlementBoc' in payload ? sponsoredProof : clientPaidProof
  const parsed = shape.safeParse(payload, { error: describeIssue })
  if (parsed.success) return { proof: parsed.data }
  const [issue] = parsed.error.issues
  return { problem: `payload.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is of the wrong form'}` }
}

const claim = z.object({ authorization: z.object({ from: addressText }) })

/** The payer that a payload names beside a message that cannot be read; null if it names none. */
export const readClaimedPayer = (payload: Readonly<Record<string, unknown>>): Address | null => {
  const parsed = claim.safeParse(payload)
  return parsed.success ? readAddress(parsed.data.authorization.from) : null
}
