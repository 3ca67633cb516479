import { createHash } from 'node:crypto'
import { getAddressDecoder, isOffCurveAddress } from '@solana/addresses'
import { setNewest } from '../../../concurrency/boundedMap.js'
import { decodeBase58 } from './base58.js'
import { associatedTokenProgram } from './programs.js'

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
