import { PublicKey } from '@solana/web3.js'
import { associatedTokenProgram } from './programs.js'

/** Whose tokens of which mint. */
export interface TokenOwner {
  readonly owner: string
  readonly mint: string
  readonly program: string
}

/** Finds the associated token account; the same question again costs nothing. */
export type FindAssociatedAccount = (tokens: TokenOwner) => string

const maxCached = 10_000

/** Builds the finder: a derivation takes a millisecond, and merchants come again. */
export const createAssociatedAccounts = (): FindAssociatedAccount => {
  const remembered = new Map<string, string>()
  return ({ owner, mint, program }) => {
    const name = `${owner}/${mint}/${program}`
    const known = remembered.get(name)
    if (known !== undefined) return known
    const seeds = [owner, program, mint].map((address) => new PublicKey(address).toBuffer())
    const [account] = PublicKey.findProgramAddressSync(seeds, new PublicKey(associatedTokenProgram))
    const found = account.toBase58()
    const [oldest] = remembered.keys()
    if (remembered.size >= maxCached && oldest !== undefined) remembered.delete(oldest)
    remembered.set(name, found)
    return found
  }
}
