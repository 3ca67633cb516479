import type { Address } from '@ton/core'
import { z } from 'zod'
import { describeIssue } from '../../../protocol/describeIssue.js'
import { maxBase64Length, readAddress } from '../encoding/cells.js'

const boc = z.string().min(1).max(maxBase64Length)
const addressText = z.string().min(1).max(128)
const digits = z.string().regex(/^[0-9]{1,78}$/)
const uint32 = z.int().min(0).max(0xffff_ffff)

const clientPaidProof = z.object({
  signedBoc: boc,
  /** The client's copy of the signed fields: compared, never trusted. */
  authorization: z.object({
    from: addressText,
    to: addressText,
    jettonMaster: addressText,
    jettonAmount: digits,
    tonAmount: digits,
    validUntil: uint32,
    seqno: uint32,
    queryId: digits,
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
