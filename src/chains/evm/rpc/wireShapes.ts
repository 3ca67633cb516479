import { type Hex, hexToBigInt, hexToNumber } from 'viem'
import { z } from 'zod'

/** Hex of any length. */
export const hexShape = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value))
/** A number as nodes write it, of any size. */
export const quantityShape = hexShape.transform((value) => hexToBigInt(value))
/** A number that is small enough for arithmetic in floating point. */
export const numberShape = hexShape.transform((value) => hexToNumber(value))

/** A log of a contract. */
export const logShape = z.object({
  address: hexShape,
  topics: z.array(hexShape),
  data: hexShape,
  transactionHash: hexShape.nullish(),
})

/** What a mined transaction did. */
export const receiptShape = z.object({
  transactionHash: hexShape,
  blockHash: hexShape,
  blockNumber: quantityShape,
  status: z.enum(['0x0', '0x1']).transform((status) => status === '0x1'),
  logs: z.array(logShape),
})

/** A block without the bodies of its transactions. */
export const blockShape = z.object({
  number: quantityShape,
  hash: hexShape,
  timestamp: quantityShape,
  baseFeePerGas: quantityShape.nullish(),
  /** Hashes of its transactions. */
  transactions: z.array(hexShape).nullish(),
})

/**
 * What recent blocks cost, oldest first; the last base fee is that of the block to come. Fees can be had without
 * it, so that what a node answers in another form counts as not answered.
 */
export const feeHistoryShape = z
  .object({
    baseFeePerGas: z.array(quantityShape).nullish().catch(null),
    gasUsedRatio: z.array(z.number()).nullish().catch(null),
    /** For each block the tips at the percentiles that were asked for. */
    reward: z.array(z.array(quantityShape)).nullish().catch(null),
  })
  .catch({})

/** A log as nodes answer it. */
export type Log = z.infer<typeof logShape>
/** A transaction's receipt; `status` is true when the transaction did not revert. */
export type Receipt = z.infer<typeof receiptShape>
/** A block's header; `timestamp` in Unix seconds. */
export type Block = z.infer<typeof blockShape>
/** What recent blocks cost, in wei per gas. */
export type FeeHistory = z.infer<typeof feeHistoryShape>
