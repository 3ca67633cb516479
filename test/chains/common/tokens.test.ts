import { describe, expect, it } from 'vitest'
import { completeTokenFacts, listKnownTokens, readTokenFacts } from '../../../src/chains/common/tokens.js'

describe('tokens that a network lists', () => {
  it.each([
    ['USDC', 'USDC', true],
    ['USDT', 'USDT', true],
    ['USDt', 'USDT', true],
    ['USD₮', 'USDT', true],
    ['USD₮0', 'USDT0', true],
    ['PYUSD', 'PYUSD', true],
    ['EURC', 'EURC', false],
    ['usdc', 'usdc', false],
    ['sUSDC', 'sUSDC', false],
    ['USDC-', 'USDC-', false],
  ])('have the symbol of their issuer: %s is %s', (written, symbol, isDollar) => {
    expect(listKnownTokens([{ asset: 'a', symbol: written, decimals: 6 }])).toEqual([
      { asset: 'a', symbol, decimals: 6, isDollar },
    ])
  })

  it.each([
    ['no symbol', { symbol: null, decimals: 6 }],
    ['no decimals', { symbol: 'USDC', decimals: null }],
    ['more decimals than an amount has', { symbol: 'USDC', decimals: 255 }],
    ['an empty symbol', { symbol: '', decimals: 6 }],
    ['a symbol of other letters', { symbol: 'USDС', decimals: 6 }],
    ['markup for a symbol', { symbol: '<b>USDC</b>', decimals: 6 }],
    ['a text for a symbol', { symbol: 'visit scam.example now', decimals: 6 }],
  ])('are left out with %s', (_what, facts) => {
    expect(listKnownTokens([{ asset: 'a', ...facts }])).toEqual([])
  })

  it('are left out if others than the issuer publish them', () => {
    const facts = { asset: 'a', symbol: 'USDT', decimals: 6 }
    expect(listKnownTokens([{ ...facts, isIssuers: false }])).toEqual([])
  })

  it.each([
    ['KT1abc:0=USDt/6', { asset: 'KT1abc:0', symbol: 'USDt', decimals: 6 }],
    ['usdc.near', { asset: 'usdc.near', symbol: null, decimals: null }],
    ['usdc.near=USDC', { asset: 'usdc.near=USDC', symbol: null, decimals: null }],
  ])('are configured as %s', (entry, facts) => {
    expect(readTokenFacts(entry)).toEqual(facts)
  })

  it('have built-in facts if the operator states none', () => {
    const builtIn = [{ asset: 'a', symbol: 'USDC', decimals: 6 }]
    const bare = { symbol: null, decimals: null }
    expect(completeTokenFacts({ asset: 'a', ...bare }, builtIn)).toEqual(builtIn[0])
    expect(completeTokenFacts({ asset: 'b', ...bare }, builtIn)).toEqual({ asset: 'b', ...bare })
    const own = { asset: 'a', symbol: 'USDC.e', decimals: 6 }
    expect(completeTokenFacts(own, builtIn)).toEqual(own)
  })
})
