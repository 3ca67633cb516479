import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalNetwork, listNetworkAliases, networkAliases } from '../../src/protocol/network.js'

describe('canonicalNetwork', () => {
  it.each([
    // Version 1 of x402.
    ['ethereum', 'eip155:1'],
    ['sepolia', 'eip155:11155111'],
    ['base', 'eip155:8453'],
    ['base-sepolia', 'eip155:84532'],
    ['polygon', 'eip155:137'],
    ['polygon-amoy', 'eip155:80002'],
    ['avalanche', 'eip155:43114'],
    ['avalanche-fuji', 'eip155:43113'],
    ['sei', 'eip155:1329'],
    ['sei-testnet', 'eip155:1328'],
    ['abstract', 'eip155:2741'],
    ['abstract-testnet', 'eip155:11124'],
    ['iotex', 'eip155:4689'],
    ['peaq', 'eip155:3338'],
    ['story', 'eip155:1514'],
    ['educhain', 'eip155:41923'],
    ['skale-base-sepolia', 'eip155:324705682'],
    ['megaeth', 'eip155:4326'],
    ['monad', 'eip155:143'],
    ['stable', 'eip155:988'],
    ['stable-testnet', 'eip155:2201'],
    ['solana', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
    ['solana-devnet', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
    // Faremeter adds these.
    ['solana-mainnet-beta', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
    ['skale-base', 'eip155:1187947933'],
    // x402-rs adds these.
    ['xdc', 'eip155:50'],
    ['xrpl-evm', 'eip155:1440000'],
    ['celo', 'eip155:42220'],
    ['celo-sepolia', 'eip155:11142220'],
    ['radius', 'eip155:723487'],
    ['radius-testnet', 'eip155:72344'],
    // t402 adds these.
    ['base-mainnet', 'eip155:8453'],
    ['ton', 'ton:mainnet'],
    ['ton-mainnet', 'ton:mainnet'],
    ['ton-testnet', 'ton:testnet'],
    // CAIP-2 identifiers of other ecosystems.
    ['ton:-239', 'ton:mainnet'],
    ['ton:-3', 'ton:testnet'],
    ['tvm:-239', 'ton:mainnet'],
    ['tvm:-3', 'ton:testnet'],
    ['tron:0x2b6653dc', 'tron:mainnet'],
    ['tron:0xcd8690dc', 'tron:nile'],
    ['tron:0x94a9059e', 'tron:shasta'],
    [
      'polkadot:68d56f15f85d3136970ec16946040bc1752654e906147f7e43e9d539d7c3de2f',
      'polkadot:68d56f15f85d3136970ec16946040bc1',
    ],
    ['polkadot:e143f23803ac50e8f6f8e62695d1ce9e', 'polkadot:67f9723393ef76214df0118c34bbbd3d'],
    [
      'polkadot:e143f23803ac50e8f6f8e62695d1ce9e4e1d68aa36c1cd2cfd15340213f3423e',
      'polkadot:67f9723393ef76214df0118c34bbbd3d',
    ],
    [
      'polkadot:67f9723393ef76214df0118c34bbbd3dbebc8ed46a10973a8c969d48fe7598c9',
      'polkadot:67f9723393ef76214df0118c34bbbd3d',
    ],
    // The other networks of the public facilitator.
    ['optimism', 'eip155:10'],
    ['arbitrum', 'eip155:42161'],
    ['ink', 'eip155:57073'],
    ['berachain', 'eip155:80094'],
    ['optimism-sepolia', 'eip155:11155420'],
    ['arbitrum-sepolia', 'eip155:421614'],
  ])('knows %s as %s', (name, network) => {
    expect(canonicalNetwork(name)).toBe(network)
    // Canonical names are unchanged, so that the mapping is idempotent.
    expect(canonicalNetwork(network)).toBe(network)
  })

  it.each(['eip155:8453', 'near:mainnet', 'eip155:31337', 'BASE', ' base', 'eip155:08453', ''])(
    'returns %j unchanged',
    (name) => {
      expect(canonicalNetwork(name)).toBe(name)
    },
  )

  it.each(['__proto__', 'constructor', 'toString', 'hasOwnProperty'])(
    'returns %s, which exists on Object.prototype, unchanged',
    (name) => {
      expect(canonicalNetwork(name)).toBe(name)
    },
  )

  it('is idempotent', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        expect(canonicalNetwork(canonicalNetwork(name))).toBe(canonicalNetwork(name))
      }),
    )
  })
})

describe('listNetworkAliases', () => {
  const listNames = (network: string, version: 1 | 2) =>
    listNetworkAliases(network)
      .filter((alias) => alias.version === version)
      .map(({ name }) => name)

  it.each([
    ['eip155:1', ['ethereum']],
    ['eip155:8453', ['base', 'base-mainnet']],
    ['eip155:84532', ['base-sepolia']],
    ['eip155:10', ['optimism']],
    ['solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', ['solana', 'solana-mainnet-beta']],
    ['ton:mainnet', ['ton', 'ton-mainnet']],
    ['ton:testnet', ['ton-testnet']],
    ['tron:mainnet', []],
  ])('lists the short names of %s for version 1: %j', (network, names) => {
    expect(listNames(network, 1)).toEqual(names)
  })

  it.each([
    ['ton:mainnet', ['ton:-239', 'tvm:-239']],
    ['ton:testnet', ['ton:-3', 'tvm:-3']],
    ['tron:nile', ['tron:0xcd8690dc']],
    ['eip155:8453', []],
  ])('lists the other CAIP-2 forms of %s for version 2: %j', (network, names) => {
    expect(listNames(network, 2)).toEqual(names)
  })

  it('lists every accepted name, and no other', () => {
    const networks = [...new Set(Object.values(networkAliases))]
    const listed = networks.flatMap((network) =>
      listNetworkAliases(network).map(({ name }) => [name, network]),
    )
    expect(Object.fromEntries(listed)).toEqual(networkAliases)
  })

  it.each(['near:mainnet', 'eip155:31337', 'base', ''])('has no names for %j', (network) => {
    expect(listNetworkAliases(network)).toEqual([])
  })
})
