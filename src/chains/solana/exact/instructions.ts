import { computeBudgetProgram, tokenPrograms } from '../encoding/programs.js'
import type { Instruction } from './payload.js'

/** A TransferChecked instruction. */
export interface Transfer {
  readonly program: string
  readonly source: string
  readonly mint: string
  readonly destination: string
  /** Who owns the source, or may spend from it. */
  readonly authority: string
  readonly amount: bigint
}

const setComputeUnitLimit = 2
const setComputeUnitPrice = 3
const transferChecked = 12

/** The limit of a SetComputeUnitLimit instruction, or null of any other. */
export const readComputeUnitLimit = (instruction: Instruction | undefined): bigint | null =>
  isOfBudget(instruction, setComputeUnitLimit, 5) ? BigInt(instruction.data.readUInt32LE(1)) : null

/** The price, in millionths of a lamport, of a SetComputeUnitPrice instruction, or null of any other. */
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

/** The transfer of a TransferChecked instruction, or null of any other; more than its four accounts are refused. */
export const readTransfer = (instruction: Instruction | undefined): Transfer | null => {
  if (instruction === undefined || !tokenPrograms.includes(instruction.program)) return null
  const { program, accounts, data } = instruction
  const [source, mint, destination, authority] = accounts
  if (data.length !== 10 || data[0] !== transferChecked || accounts.length !== 4) return null
  if (source === undefined || mint === undefined) return null
  if (destination === undefined || authority === undefined) return null
  return { program, source, mint, destination, authority, amount: data.readBigUInt64LE(1) }
}
