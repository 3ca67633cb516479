import { z } from 'zod'
import { encodeTransaction } from '../../../protocol/signedTransaction.js'

const signedShape = z.object({
  txID: z.string().regex(/^[0-9a-f]{64}$/),
  raw_data_hex: z.string().regex(/^[0-9a-f]+$/),
  signature: z.tuple([z.string().regex(/^[0-9a-fA-F]{130}$/)]),
})

export interface EncodedTransaction {
  readonly transaction: string
  readonly bytes: string
}

/** Serializes a transaction that tronweb built and signed: raw_data, then the signature. */
export const encodeSigned = (signed: unknown): EncodedTransaction => {
  const { txID, raw_data_hex: raw, signature } = signedShape.parse(signed)
  return { transaction: txID, bytes: encodeTransaction(raw, [signature[0].toLowerCase()]) }
}
