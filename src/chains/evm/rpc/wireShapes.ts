import { type Hex, hexToBigInt, hexToNumber } from 'viem'
import { z } from 'zod'

/** Hex of any length. */
export const hexShape = z.custom<Hex>((value) => typeof value === 'string' && /^0x[0-9a-fA-F]*$/.test(value))
/** A JSON-RPC quantity. */
export const quantityShape = hexShape.transform((value) => hexToBigInt(value))
/** A quantity below 2^53. */
export const numberShape = hexShape.transform((value) => hexToNumber(value))

export const logShape = z.object({
  address: hexShape,
  topics: z.array(hexShape),
  data: hexShape,
  transactionHash: hexShape.nullish(),
})

export const receiptShape = z.object({
  transactionHash: hexShape,
  blockHash: hexShape,
  blockNumber: quantityShape,
  status: z.enum(['0x0', '0x1']).transform((status) => status === '0x1'),
  logs: z.array(logShape),
  /** Only reported: a node without it still proves the payment. */
  gasUsed: quantityShape.nullish().catch(null),
  /** In wei. */
  effectiveGasPrice: quantityShape.nullish().catch(null),
  /** What a rollup charges for its data, in wei, beside the gas. */
  l1Fee: quantityShape.nullish().catch(null),
})

export const blockShape = z.object({
  number: quantityShape,
  hash: hexShape,
  timestamp: quantityShape,
  baseFeePerGas: quantityShape.nullish(),
  /** Hashes of its transactions. */
  transactions: z.array(hexShape).nullish(),
})

export const transactionShape = z.object({
  hash: hexShape,
  /** Null: it creates a contract. */
  to: hexShape.nullable(),
  /** Calldata. */
  input: hexShape,
})

/**
 * Fees of recent blocks, oldest first; the last base fee is that of the next block. Optional: an answer of
 * another form counts as missing.
 */
export const feeHistoryShape = z
  .object({
    baseFeePerGas: z.array(quantityShape).nullish().catch(null),
    gasUsedRatio: z.array(z.number()).nullish().catch(null),
    /** Per block, the tips at the requested percentiles. */
    reward: z.array(z.array(quantityShape)).nullish().catch(null),
  })
  .catch({})

export type Log = z.infer<typeof logShape>
/** A transaction's receipt; `status` is true when the transaction did not revert. */
export type Receipt = z.infer<typeof receiptShape>
export type Transaction = z.infer<typeof transactionShape>
/** A block's header; `timestamp` in Unix seconds. */
export type Block = z.infer<typeof blockShape>
/** Fees of recent blocks, in wei per gas. */
export type FeeHistory = z.infer<typeof feeHistoryShape>
