import { PublicKey } from '@solana/web3.js'
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
    const seeds = [owner, program, mint].map((address) => new PublicKey(address).toBuffer())
    const [account] = PublicKey.findProgramAddressSync(seeds, new PublicKey(associatedTokenProgram))
    const address = account.toBase58()
    const [oldest] = cache.keys()
    if (cache.size >= maxCached && oldest !== undefined) cache.delete(oldest)
    cache.set(key, address)
    return address
  }
}
