import type { Account } from '../rpc/wireShapes.js'
import { encodeBase58 } from './base58.js'
import { tokenPrograms } from './programs.js'

/** Base layout of a token account; Token-2022 extensions follow it. */
export interface TokenAccount {
  readonly mint: string
  readonly owner: string
  readonly amount: bigint
  readonly isFrozen: boolean
}

/** Length of the base layout, in bytes. */
export const tokenAccountLength = 165
const stateOffset = 108
const frozen = 2

/** Null if it is not an initialized token account. */
export const readTokenAccount = (account: Account | null | undefined): TokenAccount | null => {
  if (account == null || !tokenPrograms.includes(account.owner)) return null
  const { data } = account
  const state = data[stateOffset]
  if (data.length < tokenAccountLength || state === undefined || state === 0) return null
  return {
    mint: encodeBase58(data.subarray(0, 32)),
    owner: encodeBase58(data.subarray(32, 64)),
    amount: data.readBigUInt64LE(64),
    isFrozen: state === frozen,
  }
}
