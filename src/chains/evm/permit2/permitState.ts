import { type Hex, toFunctionSelector } from 'viem'
import { addressWord, numberWord, readWord } from '../abi/words.js'
import { encodeBalanceCall } from '../tokens/erc20.js'
import type { ContractCall, ReadAnswers } from '../transactions/settlementCall.js'
import { permit2Abi, permit2Address } from './contracts.js'
import type { Permit } from './payload.js'

/** Null values: the contract did not return them. */
export interface PermitState {
  /** Used or invalidated. */
  readonly isUsed: boolean | null
  /** The payer's balance in smallest units. */
  readonly balance: bigint | null
  /** What Permit2 may take from the payer, in smallest units. */
  readonly allowance: bigint | null
}

const [nonceBitmap] = permit2Abi
const bitmapSelector = toFunctionSelector(nonceBitmap)
const allowanceSelector = toFunctionSelector('allowance(address,address)')

/** Calldata of `nonceBitmap`, which holds 256 nonces in a word. */
export const encodeBitmapCall = ({ from, nonce }: Pick<Permit, 'from' | 'nonce'>): Hex =>
  `${bitmapSelector}${addressWord(from)}${numberWord(wordOf(nonce))}`

export const wordOf = (nonce: bigint): bigint => nonce >> 8n

/** Whether a bitmap or a mask of a nonce's word contains the nonce. */
export const hasNonce = (bitmap: bigint, nonce: bigint): boolean => ((bitmap >> (nonce & 0xffn)) & 1n) === 1n

/** The calls whose answers `decodePermitState` takes. */
export const planStateReads = (permit: Permit): readonly ContractCall[] => [
  { to: permit2Address, data: encodeBitmapCall(permit) },
  { to: permit.token, data: encodeBalanceCall(permit.from) },
  { to: permit.token, data: `${allowanceSelector}${addressWord(permit.from)}${addressWord(permit2Address)}` },
]

export const decodePermitState = (
  [bitmap, balance, allowance]: ReadAnswers,
  { nonce }: Pick<Permit, 'nonce'>,
): PermitState => {
  const word = readWord(bitmap)
  return {
    isUsed: word === null ? null : hasNonce(word, nonce),
    balance: readWord(balance),
    allowance: readWord(allowance),
  }
}
