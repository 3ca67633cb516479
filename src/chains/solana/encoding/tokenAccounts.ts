import { createHash } from 'node:crypto'
import { getAddressDecoder, isOffCurveAddress } from '@solana/addresses'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { decodeBase58, encodeBase58 } from '../../common/base58.js'

/** SPL Token and Token-2022. */
export const tokenPrograms: readonly string[] = [
  'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
  'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb',
]

/** Sets compute unit limit and price. */
export const computeBudgetProgram = 'ComputeBudget111111111111111111111111111111'

/** Memo, version 2. */
export const memoProgram = 'MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'

/** Assertions that some wallets add to transactions they sign. */
export const lighthouseProgram = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'

/** Owns the derivation of associated token accounts. */
const associatedTokenProgram = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'

/** Slot and Unix time. */
export const clockSysvar = 'SysvarC1ock11111111111111111111111111111111'

/** The 150 newest blockhashes, newest first. */
export const recentBlockhashesSysvar = 'SysvarRecentB1ockHashes11111111111111111111'

interface TokenOwner {
  readonly owner: string
  readonly mint: string
  readonly program: string
}

export type FindAssociatedAccount = (tokens: TokenOwner) => string

const maxCached = 10_000

/** Deriving an address takes about 0.2 ms. */
export const createAssociatedAccounts = (): FindAssociatedAccount => {
  const cache = new Map<string, string>()
  return ({ owner, mint, program }) => {
    const key = `${owner}/${mint}/${program}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const address = findProgramAddress([owner, program, mint].map(readKey))
    setNewest(cache, key, address, maxCached)
    return address
  }
}

const readKey = (address: string): Buffer => {
  const key = decodeBase58(address)
  if (key?.length !== 32) throw new Error('Not an address')
  return key
}

const addresses = getAddressDecoder()
const marker = Buffer.from('ProgramDerivedAddress')
const maxBump = 255

/**
 * The hash with the highest bump that is not a point of the curve. The library's own search waits for a worker thread
 * for every bump.
 */
const findProgramAddress = (seeds: readonly Buffer[]): string => {
  for (let bump = maxBump; bump >= 0; bump -= 1) {
    const hash = createHash('sha256')
    for (const part of [...seeds, Buffer.from([bump]), readKey(associatedTokenProgram), marker]) {
      hash.update(part)
    }
    const address = addresses.decode(hash.digest())
    if (isOffCurveAddress(address)) return address
  }
  throw new Error('No bump leads to a program address')
}

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

/** An account of any program. */
interface OwnedData {
  readonly owner: string
  readonly data: Buffer
}

/** Null if it is not an initialized token account. */
export const readTokenAccount = (account: OwnedData | null | undefined): TokenAccount | null => {
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
