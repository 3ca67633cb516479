import { domainSeparator, type Hex } from 'viem'
import type { TokenDomain } from './tokenRegistry.js'

export interface SigningDomain extends Pick<TokenDomain, 'name' | 'version'> {
  readonly chainId: number
  readonly asset: Hex
}

// Requirements name the domain: untrusted, so the cache is bounded.
const maxSeparators = 1_000
const separators = new Map<string, Hex>()

/** Hashes the EIP-712 domain of a token. */
export const separatorOf = ({ name, version, chainId, asset }: SigningDomain): Hex => {
  // The length prefix makes the concatenation unambiguous.
  const key = `${chainId} ${asset} ${name.length} ${name}${version}`
  const known = separators.get(key)
  if (known !== undefined) return known
  const separator = domainSeparator({ domain: { name, version, chainId, verifyingContract: asset } })
  if (separators.size >= maxSeparators) separators.clear()
  separators.set(key, separator)
  return separator
}
