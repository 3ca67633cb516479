import { z } from 'zod'

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
  return { transaction: txID, bytes: `${encodeField(1, raw)}${encodeField(2, signature[0].toLowerCase())}` }
}

const encodeField = (number: number, hex: string): string => {
  const head = [(number << 3) | 2]
  for (let left = hex.length / 2; ; left >>= 7) {
    if (left < 0x80) return `${Buffer.from([...head, left]).toString('hex')}${hex}`
    head.push((left & 0x7f) | 0x80)
  }
}
