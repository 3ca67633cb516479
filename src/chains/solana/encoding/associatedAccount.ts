import { decodeBase58, encodeBase58 } from './base58.js'
import { findProgramAddress } from './programAddress.js'
import { associatedTokenProgram } from './programs.js'

interface TokenOwner {
  readonly owner: string
  readonly mint: string
  readonly program: string
}

export type FindAssociatedAccount = (tokens: TokenOwner) => string

const maxCached = 10_000

/** Deriving an address takes about 1 ms. */
export const createAssociatedAccounts = (): FindAssociatedAccount => {
  const cache = new Map<string, string>()
  return ({ owner, mint, program }) => {
    const key = `${owner}/${mint}/${program}`
    const cached = cache.get(key)
    if (cached !== undefined) return cached
    const seeds = [owner, program, mint].map(readKey)
    const address = encodeBase58(findProgramAddress(seeds, readKey(associatedTokenProgram)))
    const [oldest] = cache.keys()
    if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest)
    cache.set(key, address)
    return address
  }
}

const readKey = (address: string): Buffer => {
  const key = decodeBase58(address)
  if (key?.length !== 32) throw new Error('Not an address')
  return key
}
