import { computeBudgetProgram, tokenPrograms } from '../encoding/tokenAccounts.js'
import type { Instruction, Transaction } from './decode.js'

export interface Transfer {
  readonly program: string
  readonly source: string
  readonly mint: string
  readonly destination: string
  readonly authority: string
  readonly amount: bigint
}

const setComputeUnitLimit = 2
const setComputeUnitPrice = 3
const transferChecked = 12

/** Null for any other instruction. */
export const readComputeUnitLimit = (instruction: Instruction | undefined): bigint | null =>
  isOfBudget(instruction, setComputeUnitLimit, 5) ? BigInt(instruction.data.readUInt32LE(1)) : null

/** In micro-lamports; null for any other instruction. */
export const readComputeUnitPrice = (instruction: Instruction | undefined): bigint | null =>
  isOfBudget(instruction, setComputeUnitPrice, 9) ? instruction.data.readBigUInt64LE(1) : null

const isOfBudget = (
  instruction: Instruction | undefined,
  kind: number,
  length: number,
): instruction is Instruction =>
  instruction?.program === computeBudgetProgram &&
  instruction.data.length === length &&
  instruction.data[0] === kind

/** Null for any other instruction, or with other than exactly four accounts. */
export const readTransfer = (instruction: Instruction | undefined): Transfer | null => {
  if (instruction === undefined || !tokenPrograms.includes(instruction.program)) return null
  const { program, accounts, data } = instruction
  const [source, mint, destination, authority] = accounts
  if (data.length !== 10 || data[0] !== transferChecked || accounts.length !== 4) return null
  if (source === undefined || mint === undefined) return null
  if (destination === undefined || authority === undefined) return null
  return { program, source, mint, destination, authority, amount: data.readBigUInt64LE(1) }
}

const microLamportsPerLamport = 1_000_000n

/** In lamports, rounded up as the runtime does. */
export const countPriorityFee = (units: bigint, microLamportsPerUnit: bigint): bigint =>
  (units * microLamportsPerUnit + microLamportsPerLamport - 1n) / microLamportsPerLamport

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
