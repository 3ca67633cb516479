import { countPriorityFee } from '../exact/checks.js'
import { readComputeUnitLimit, readComputeUnitPrice } from '../exact/instructions.js'
import type { Transaction } from '../exact/payload.js'

const lamportsPerSignature = 5_000n

/** Ours and the payer's. */
const signatures = 2n

/** What every settlement costs, in lamports, before its price per compute unit. */
export const baseFee = signatures * lamportsPerSignature

/** What a transaction costs us, in lamports, whether or not it succeeds. */
export const countFee = ({ instructions }: Transaction): bigint => {
  const units = readComputeUnitLimit(instructions[0]) ?? 0n
  const price = readComputeUnitPrice(instructions[1]) ?? 0n
  return baseFee + countPriorityFee(units, price)
}
