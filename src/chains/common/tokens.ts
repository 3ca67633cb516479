import type { Token } from '../../schemes/network.js'

export interface TokenFacts {
  readonly asset: string
  /** The table, the operator or the contract wrote it; null if unknown. */
  readonly symbol: string | null
  readonly decimals: number | null
  /** False: others publish the asset under the symbol of an issuer who does not. It is settled, but is not that currency. */
  readonly isIssuers?: false
}

/** An entry of a list of tokens: an asset, optionally with `=SYMBOL/decimals`. */
export const readTokenFacts = (entry: string): TokenFacts => {
  const [, asset = entry, symbol = null, decimals = null] =
    /^(.+)=([A-Za-z0-9.₮]{1,16})\/([0-9]{1,2})$/u.exec(entry) ?? []
  return { asset, symbol, decimals: decimals === null ? null : Number(decimals) }
}

/** Operators may list a built-in token without its symbol. */
export const completeTokenFacts = (token: TokenFacts, builtIn: readonly TokenFacts[]): TokenFacts =>
  token.symbol === null ? (builtIn.find(({ asset }) => asset === token.asset) ?? token) : token

/** Meant to be worth one US dollar, as their issuers state. Tokens that earn interest are none. */
const dollars: ReadonlySet<string> = new Set([
  'USDC',
  // Bridged.
  'USDC.e',
  'USDbC',
  'USDT',
  'USDT0',
  'PYUSD',
  'USDG',
  'USDP',
  'RLUSD',
  'FDUSD',
  'TUSD',
  'DAI',
  'USDS',
])

/** Tether writes one currency differently on each chain. */
const respelled: Readonly<Record<string, string>> = {
  'USD₮': 'USDT',
  USDt: 'USDT',
  'USD₮0': 'USDT0',
  USDt0: 'USDT0',
}

// Contracts may name themselves anything.
const symbolForm = /^[A-Za-z0-9.₮+-]{1,16}$/u
const maxDecimals = 77

/** Lists tokens of an issuer with a known symbol and known decimals, in the given order. */
export const listKnownTokens = (tokens: readonly TokenFacts[]): readonly Token[] =>
  tokens.flatMap(({ asset, symbol: written, decimals, isIssuers = true }) => {
    if (
      !isIssuers ||
      written === null ||
      decimals === null ||
      !symbolForm.test(written) ||
      decimals > maxDecimals
    )
      return []
    const symbol = respelled[written] ?? written
    return [{ asset, symbol, decimals, isDollar: dollars.has(symbol) }]
  })
