import { domainSeparator, type Hex } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import type { Token, TokenDomain } from './tokenRegistry.js'

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

/** The EIP-712 domain that the payer must have signed: from the requirements, else the token's own. */
export const signedDomain = ({
  payment,
  token,
}: {
  readonly payment: Payment
  readonly token: Token
}): Pick<TokenDomain, 'name' | 'version'> => {
  const { name, version } = payment.requirements.extra
  return {
    name: typeof name === 'string' ? name : (token.domain?.name ?? ''),
    version: typeof version === 'string' ? version : (token.domain?.version ?? ''),
  }
}
