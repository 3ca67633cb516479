import { describe, expect, it } from 'vitest'
import { readAptosAddress } from '../../../src/chains/aptos/addresses.js'
import { formatAddress, readAddress as readCosmosAddress } from '../../../src/chains/cosmos/addresses.js'
import { readAddress as readEvmAddress } from '../../../src/chains/evm/abi/address.js'
import { readAccountId } from '../../../src/chains/near/addresses.js'
import { readAccountKey } from '../../../src/chains/polkadot/addresses.js'
import { readAddress as readSolanaAddress } from '../../../src/chains/solana/encoding/keys.js'
import { readPrincipal } from '../../../src/chains/stacks/addresses.js'
import { readTezosAddress } from '../../../src/chains/tezos/addresses.js'
import { readAddress as readTonAddress } from '../../../src/chains/ton/encoding/cells.js'
import { readAddress as readTronAddress } from '../../../src/chains/tron/encoding/address.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import type { Scheme } from '../../../src/schemes/scheme.js'
import { findWallets } from '../../../src/usecases/credit/index.js'
import { createToyScheme } from '../../support/toyScheme.js'

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  'eip155:8453': readEvmAddress,
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': readSolanaAddress,
  'ton:mainnet': readTonAddress,
  'tron:mainnet': readTronAddress,
  'near:mainnet': readAccountId,
  'aptos:1': readAptosAddress,
  'tezos:NetXdQprcVkpaWU': readTezosAddress,
  'polkadot:68d56f15f85d3136970ec16946040bc1': readAccountKey,
  'stacks:1': (text) => readPrincipal(text, '1'),
  'cosmos:noble-1': (text) => readCosmosAddress(text, 'noble'),
}
const schemeOf = (network: string): Scheme =>
  createToyScheme({
    kind: { scheme: 'exact', network },
    network: { isAddress: (text) => (readers[network]?.(text) ?? null) !== null },
  })
const registry = createSchemeRegistry(Object.keys(readers).map(schemeOf))
const only = (network: string) => createSchemeRegistry([schemeOf(network)])

const noble = formatAddress(new Uint8Array(20).fill(7), 'noble')
const wallets: Readonly<Record<string, string>> = {
  'eip155:8453': '0x18f77dd01186556F1F745E7847A4686421dEE072',
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  'ton:mainnet': 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDs',
  'tron:mainnet': 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6t',
  'near:mainnet': 'alice.near',
  'aptos:1': `0x${'ab'.repeat(32)}`,
  'tezos:NetXdQprcVkpaWU': 'tz1burnburnburnburnburnburnburjAYjjX',
  'polkadot:68d56f15f85d3136970ec16946040bc1': '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp5',
  'stacks:1': 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K',
  'cosmos:noble-1': noble,
}

describe('a wallet', () => {
  it.each(Object.entries(wallets))('of %s is recognized: %s', (network, wallet) => {
    const found = findWallets(registry, { wallet, network })
    expect(found.map(({ namespace }) => namespace)).toEqual([network.split(':')[0]])
    expect(findWallets(registry, { wallet }).map(({ key }) => key)).toContain(found[0].key)
  })

  it.each([
    ['eip155:8453', '0x18f77dd01186556F1F745E7847A4686421dEE07'],
    ['eip155:8453', '18f77dd01186556F1F745E7847A4686421dEE072'],
    ['eip155:8453', '0x18f77dd01186556F1F745E7847A4686421dEE072 '],
    ['eip155:8453', 'vitalik.eth'],
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v1'],
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', '0OIl5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'],
    ['ton:mainnet', 'EQCxE6mUtQJKFnGfaROTKOt1lZbDiiX1kCixRv7Nw2Id_sDt'],
    ['tron:mainnet', 'TR7NHqjeKQxGTCi8q8ZY4pL8otSzgjLj6u'],
    ['near:mainnet', 'Alice.Near'],
    ['near:mainnet', 'a'],
    ['aptos:1', '0xzz'],
    ['tezos:NetXdQprcVkpaWU', 'tz1burnburnburnburnburnburnburjAYjjY'],
    ['polkadot:68d56f15f85d3136970ec16946040bc1', '15oF4uVJwmo4TdGW7VfQxNLavjCXviqxT9S1MgbjMNHr6Sp6'],
    ['stacks:1', 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4L'],
    ['cosmos:noble-1', `${noble.slice(0, -1)}b`],
    ['cosmos:noble-1', formatAddress(new Uint8Array(20).fill(7), 'cosmos')],
  ])('of %s is refused in a wrong form: %s', (network, wallet) => {
    const namespace = network.split(':')[0]
    expect(() => findWallets(only(network), { wallet })).toThrow(
      `wallet: must be an address of one of these families: ${namespace}`,
    )
  })

  it.each(['', ' ', '\0', 'ÅÅÅ', '../../etc/passwd', '1'.repeat(200)])(
    'of no family is refused: %j',
    (wallet) => {
      expect(() => findWallets(registry, { wallet })).toThrow(
        'wallet: must be an address of one of these families: aptos, cosmos, eip155, near, polkadot, solana, stacks, ' +
          'tezos, ton, tron',
      )
    },
  )

  it('has one key in whatever case its hex is written, on all networks of its family', () => {
    const both = createSchemeRegistry(
      ['eip155:8453', 'eip155:1'].map((network) => ({
        ...schemeOf('eip155:8453'),
        kind: { scheme: 'exact', network },
      })),
    )
    const wallet = wallets['eip155:8453'] ?? ''
    const key = `eip155:${wallet.toLowerCase()}`
    for (const spelling of [wallet, wallet.toLowerCase(), `0x${wallet.slice(2).toUpperCase()}`]) {
      expect(findWallets(both, { wallet: spelling }).map((each) => each.key)).toEqual([key])
    }
  })

  it('is spelled as the family spells it', () => {
    const scheme = createToyScheme({
      network: { normalizeAddress: (text) => (text.startsWith('no') ? null : `normal ${text}`) },
    })
    const toys = createSchemeRegistry([scheme])
    expect(findWallets(toys, { wallet: 'a' })).toEqual([
      { key: 'toy:normal a', namespace: 'toy', address: 'normal a' },
    ])
    expect(() => findWallets(toys, { wallet: 'no' })).toThrow('families: toy')
  })

  it('is looked for in the family of the given network only, by any of its names', () => {
    const wallet = wallets['eip155:8453'] ?? ''
    // TRON and Aptos have addresses of the same form.
    const namespaces = findWallets(registry, { wallet }).map(({ namespace }) => namespace)
    expect(namespaces).toEqual(['eip155', 'tron', 'aptos'])
    expect(findWallets(registry, { wallet, network: 'base' })[0].namespace).toBe('eip155')
    expect(() => findWallets(registry, { wallet, network: 'stacks:1' })).toThrow('families: stacks')
    expect(() => findWallets(registry, { wallet, network: 'eip155:5' })).toThrow('network: ')
  })
})
