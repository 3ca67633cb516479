import { decodeFunctionResult, domainSeparator, encodeFunctionData, type Hex } from 'viem'
import { z } from 'zod'
import { setNewest } from '../../../concurrency/boundedMap.js'
import type { Payment } from '../../../protocol/payment.js'
import type { AssetTerms } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, TokenSetting } from '../settings.js'
import { tokenAbi } from './erc20.js'

/** Name and version of a token's EIP-712 domain. */
interface TokenDomain {
  readonly name: string
  readonly version: string
  /** Whether the token's DOMAIN_SEPARATOR confirms it; otherwise only a simulation can. */
  readonly isProven: boolean
}

export interface Token {
  readonly address: Hex
  /** As the contract states it; null if it states none. */
  readonly symbol: string | null
  readonly decimals: number
  /** Null when the token has neither name nor version in a known form. */
  readonly domain: TokenDomain | null
  /** Whether the operator or the built-in list names it. */
  readonly isListed: boolean
}

export type TokenFinding =
  | { readonly token: Token }
  | { readonly refusedAs: 'unsupported_asset' | 'asset_not_deployed_contract' }

/** The token of a payment. */
export type FindToken = (address: Hex, payment: Payment) => Promise<TokenFinding>

/** The configured tokens, and any other if the operator allows it. */
export interface TokenRegistry {
  find(address: Hex): Promise<TokenFinding>
  /** A configured token that was read already, else null. */
  peek(address: Hex): Token | null
}

// Bounds the cache of tokens from untrusted requests; deployed contracts do not move.
const maxUnlistedTokens = 1_000

/** Tokens are read from the chain on first use; failed reads are retried. */
export const createTokenRegistry = (settings: EvmNetworkSettings, rpc: Rpc): TokenRegistry => {
  const offered = new Map(settings.tokens.map((token) => [token.address.toLowerCase(), token]))
  const known = new Map<string, Promise<TokenFinding>>()
  const read = new Map<string, Token>()

  const readFinding = async (address: Hex, setting: TokenSetting | undefined): Promise<TokenFinding> => {
    if ((await rpc.getCode(address)) === '0x') return { refusedAs: 'asset_not_deployed_contract' }
    return { token: await readToken(rpc, settings.chainId, address, setting) }
  }

  return {
    peek: (address) => read.get(address.toLowerCase()) ?? null,
    find: async (address) => {
      const key = address.toLowerCase()
      const setting = offered.get(key)
      if (setting === undefined && !settings.acceptsAnyToken) return { refusedAs: 'unsupported_asset' }
      const cached = known.get(key)
      if (cached !== undefined) return await cached

      const finding = readFinding(address, setting)
      if (setting === undefined && known.size >= maxUnlistedTokens + offered.size) {
        const oldest = [...known.keys()].find((candidate) => !offered.has(candidate))
        if (oldest !== undefined) known.delete(oldest)
      }
      known.set(key, finding)
      try {
        const found = await finding
        // A missing contract may be deployed later.
        if ('refusedAs' in found) known.delete(key)
        else if (setting !== undefined) read.set(key, found.token)
        return found
      } catch (error) {
        known.delete(key)
        throw error
      }
    },
  }
}

/** Reads a token's metadata and proves its EIP-712 domain against its DOMAIN_SEPARATOR. */
const readToken = async (
  rpc: Rpc,
  chainId: number,
  address: Hex,
  setting: TokenSetting | undefined,
): Promise<Token> => {
  const view = async <Schema extends z.ZodType>(functionName: ViewName, schema: Schema) => {
    const answer = await rpc.call({ to: address, data: encodeFunctionData({ abi: tokenAbi, functionName }) })
    if (!answer.succeeds) return null
    try {
      const parsed = schema.safeParse(
        decodeFunctionResult({ abi: tokenAbi, functionName, data: answer.value }),
      )
      return parsed.success ? parsed.data : null
    } catch {
      // The result has another ABI type.
      return null
    }
  }

  const [name, version, symbol, decimals, separator, eip5267] = await Promise.all([
    view('name', z.string()),
    view('version', z.string()),
    view('symbol', z.string()),
    view('decimals', z.number()),
    view('DOMAIN_SEPARATOR', z.string()),
    view('eip712Domain', z.tuple([z.string(), z.string(), z.string()], z.unknown())),
  ])

  const candidates = [
    setting?.name === undefined || setting.version === undefined ? null : [setting.name, setting.version],
    eip5267 === null ? null : [eip5267[1], eip5267[2]],
    name === null || version === null ? null : [name, version],
    name === null ? null : [name, '1'],
    name === null ? null : [name, '2'],
  ].flatMap((pair) => (pair === null ? [] : [{ name: pair[0] ?? '', version: pair[1] ?? '' }]))

  const proven = candidates.find(
    (domain) => domainSeparator({ domain: { ...domain, chainId, verifyingContract: address } }) === separator,
  )
  const guess = candidates[0]
  return {
    address,
    symbol,
    decimals: decimals ?? setting?.decimals ?? 6,
    domain:
      proven !== undefined
        ? { ...proven, isProven: true }
        : guess !== undefined
          ? { ...guess, isProven: false }
          : null,
    isListed: setting !== undefined,
  }
}

const viewNames = ['name', 'version', 'symbol', 'decimals', 'DOMAIN_SEPARATOR', 'eip712Domain'] as const
type ViewName = (typeof viewNames)[number]

// Tokens come from requirements; of more than these the oldest is asked again.
const maxTokens = 1_000

/** Asks each token once, by its address. */
export const askTokensOnce = <Answer>(
  ask: (asset: Hex) => Promise<Answer>,
): ((asset: Hex) => Promise<Answer>) => {
  const known = new Map<string, Answer>()
  return async (asset) => {
    const key = asset.toLowerCase()
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const answer = await ask(asset)
    setNewest(known, key, answer, maxTokens)
    return answer
  }
}

/** Null asset: the network's first token. Null if it is not settled. */
type DescribeToken = (asset: string | null) => Promise<AssetTerms | null>

/** Includes the domain that clients need to sign for the token. */
export const createDescribeToken =
  (
    { tokens: listed }: Pick<EvmNetworkSettings, 'tokens'>,
    tokens: Pick<TokenRegistry, 'find'>,
  ): DescribeToken =>
  async (asset) => {
    const address = readAddress(asset ?? listed[0]?.address)
    const finding = address === null ? null : await tokens.find(address)
    if (finding === null || 'refusedAs' in finding) return null
    const { token } = finding
    return { asset: asset ?? token.address, decimals: token.decimals, extra: domainOf(token) ?? {} }
  }

export const domainOf = ({ domain }: Token): Record<'name' | 'version', string> | undefined =>
  domain === null ? undefined : { name: domain.name, version: domain.version }

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
  setNewest(separators, key, separator, maxSeparators)
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
