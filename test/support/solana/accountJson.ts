import { base58 } from '@scure/base'
import { token2022Program, tokenProgram } from './programs.js'
import type { StoredAccount, VirtualMachine } from './virtualMachine.js'

interface DataSlice {
  readonly offset: number
  readonly length: number
}

export const toAccountJson = (
  account: StoredAccount | null,
  encoding = 'base64',
  slice: DataSlice | null = null,
): unknown => {
  if (account === null) return null
  const { lamports, owner, executable, data } = account
  const shown = slice === null ? data : data.subarray(slice.offset, slice.offset + slice.length)
  const text = encoding === 'base58' ? base58.encode(shown) : shown.toString('base64')
  return {
    lamports: Number(lamports),
    owner,
    executable,
    rentEpoch: 0,
    space: data.length,
    data: [text, encoding === 'base58' ? 'base58' : 'base64'],
  }
}

/** Null if it is not a token account. */
export const readTokenAccount = (
  account: StoredAccount | null,
): { readonly mint: string; readonly owner: string; readonly amount: bigint } | null => {
  if (account === null || ![tokenProgram, token2022Program].includes(account.owner)) return null
  const { data } = account
  if (data.length < 165 || data[108] === 0 || (data.length > 165 && data[165] !== 2)) return null
  return {
    mint: base58.encode(data.subarray(0, 32)),
    owner: base58.encode(data.subarray(32, 64)),
    amount: data.readBigUInt64LE(64),
  }
}

export const toAmountJson = (machine: VirtualMachine, mint: string, amount: bigint) => {
  const decimals = machine.read(mint)?.data[44] ?? 0
  const uiAmount = Number(amount) / 10 ** decimals
  return { amount: amount.toString(), decimals, uiAmount, uiAmountString: String(uiAmount) }
}
