import { countPriorityFee } from '../exact/checks.js'
import type { Transaction } from '../exact/decode.js'
import { readComputeUnitLimit, readComputeUnitPrice } from '../exact/instructions.js'

const lamportsPerSignature = 5_000n

const signatures = 2n

/** Base fee of every settlement, in lamports. */
export const baseFee = signatures * lamportsPerSignature

/** Total fee in lamports; charged even if the transaction fails. */
export const countFee = ({ instructions }: Transaction): bigint => {
  const units = readComputeUnitLimit(instructions[0]) ?? 0n
  const price = readComputeUnitPrice(instructions[1]) ?? 0n
  return baseFee + countPriorityFee(units, price)
}
