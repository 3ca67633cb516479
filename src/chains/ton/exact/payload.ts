import { z } from 'zod'
import { mostBase64Length } from '../encoding/cells.js'

const boc = z.string().min(1).max(mostBase64Length)
const addressText = z.string().min(1).max(128)
const digits = z.string().regex(/^[0-9]{1,78}$/)
const uint32 = z.int().min(0).max(0xffff_ffff)

const clientPaidProof = z.object({
  signedBoc: boc,
  /** The client's own copy of what it signed: compared, never believed. */
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

/** A message that the payer's own wallet pays for, with the client's copy of what it says. */
export type ClientPaidProof = z.infer<typeof clientPaidProof>

/** A message that we relay and pay for. */
export type SponsoredProof = z.infer<typeof sponsoredProof>

/** What a payer sent, in one of the two forms. */
export type TonProof = ClientPaidProof | SponsoredProof

/** Reads a payload by the field that holds its message; the problem names a field. */
export const readTonProof = (
  payload: Readonly<Record<string, unknown>>,
): { readonly proof: TonProof } | { readonly problem: string } => {
  const shape = 'settlementBoc' in payload ? sponsoredProof : clientPaidProof
  const parsed = shape.safeParse(payload)
  if (parsed.success) return { proof: parsed.data }
  const [issue] = parsed.error.issues
  return { problem: `payload.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is of the wrong form'}` }
}
