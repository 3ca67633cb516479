import { Address } from '@ton/core'
import { describe, expect, it } from 'vitest'
import type { Network, Token } from '../../../src/schemes/network.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { findDollarDecimals } from '../../../src/usecases/core/limits.js'
import { createToyScheme } from '../../support/toyScheme.js'

const dollar = (asset: string): Token => ({ asset, symbol: 'USDC', decimals: 6, isDollar: true })

const ton: Pick<Network, 'normalizeAddress'> = {
  normalizeAddress: (text) =>
    Address.isRaw(text) || Address.isFriendly(text) ? Address.parse(text).toRawString() : null,
}

const schemeOf = (asset: string, facts: Partial<Network> = {}, network = 'toy:1'): Scheme =>
  createToyScheme({
    kind: { scheme: 'exact', network },
    network: { listTokens: () => [dollar(asset)], ...facts },
  })

const usdtOnTon = '0:b113a994b5024a16719f69139328eb759596c38a25f59028b146fecdc3621dfe'

describe('what is counted as dollars', () => {
  it.each<[string, Scheme, string, number | null]>([
    ['the asset as it is listed', schemeOf('gold'), 'gold', 6],
    ['no other asset', schemeOf('gold'), 'silver', null],
    ['hex in another letter case', schemeOf('0xAbCd'), '0xaBcD', 6],
    ['no name in another letter case', schemeOf('uusdc'), 'UUSDC', null],
    [
      'an address in another form of the network',
      schemeOf(usdtOnTon, ton),
      'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
      6,
    ],
    [
      'an asset that is no address, where addresses have forms',
      schemeOf('KT1abc:0', { normalizeAddress: () => null }),
      'KT1abc:0',
      6,
    ],
    [
      'no token that is no dollar',
      schemeOf('gold', { listTokens: () => [{ ...dollar('gold'), isDollar: false }] }),
      'gold',
      null,
    ],
    ['nothing without a list', createToyScheme(), 'gold', null],
  ])('%s', (_what, scheme, asset, decimals) => {
    expect(findDollarDecimals(createSchemeRegistry([scheme]), scheme, asset)).toBe(decimals)
  })

  it('leaves out test networks beside real ones', () => {
    const real = schemeOf('gold', { isTestnet: false }, 'toy:1')
    const test = schemeOf('gold', { isTestnet: true }, 'toy:2')
    const both = createSchemeRegistry([real, test])
    expect(findDollarDecimals(both, real, 'gold')).toBe(6)
    expect(findDollarDecimals(both, test, 'gold')).toBeNull()
    expect(findDollarDecimals(createSchemeRegistry([test]), test, 'gold')).toBe(6)
  })
})
