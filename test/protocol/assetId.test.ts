import { describe, expect, it } from 'vitest'
import { canonicalAsset, toCaip19 } from '../../src/protocol/assetId.js'

const aptosAddress = `0x${'0'.repeat(60)}beef`
const tether = 'KT1XnTn74bUtxHfDtBmm2bGZAQfhPbvKWR8o'
const assetHub = 'polkadot:68d56f15f85d3136970ec16946040bc1'

describe('canonicalAsset', () => {
  it.each([
    ['near:mainnet', 'near:mainnet/nep141:usdt.tether-token.near', 'usdt.tether-token.near'],
    ['near:mainnet', 'usdt.tether-token.near', 'usdt.tether-token.near'],
    ['aptos:1', `aptos:1/fa:${aptosAddress}`, aptosAddress],
    ['aptos:1', 'aptos:1/fa:0xBEEF', aptosAddress],
    ['aptos:1', '0xbeef', aptosAddress],
    ['tezos:NetXdQprcVkpaWU', `tezos:NetXdQprcVkpaWU/fa2:${tether}/7`, `${tether}:7`],
    ['tezos:NetXdQprcVkpaWU', `tezos:NetXdQprcVkpaWU/fa2:${tether}`, `${tether}:0`],
    ['tezos:NetXdQprcVkpaWU', `${tether}/7`, `${tether}:7`],
    ['tezos:NetXdQprcVkpaWU', `${tether}:7`, `${tether}:7`],
    ['tezos:NetXdQprcVkpaWU', tether, `${tether}:0`],
    [assetHub, `${assetHub}/asset:1984`, '1984'],
    [assetHub, `${assetHub}752654e906147f7e43e9d539d7c3de2f/asset:1984`, '1984'],
    [assetHub, '1984', '1984'],
    ['stacks:1', 'stacks:1/sip010:SP3Y.token-susdc', 'SP3Y.token-susdc'],
    ['cosmos:noble-1', 'cosmos:noble-1/denom:uusdc', 'uusdc'],
    ['cosmos:noble-1', 'uusdc', 'uusdc'],
    ['cosmos:noble-1', 'ibc/27394FB0', 'ibc/27394FB0'],
    ['eip155:8453', 'eip155:8453/erc20:0xAb', '0xAb'],
    ['eip155:8453', 'base/erc20:0xAb', 'base/erc20:0xAb'],
  ])('on %s reads %s as %s', (network, asset, bare) => {
    expect(canonicalAsset(network, asset)).toBe(bare)
  })

  it.each([
    ['another network', 'aptos:1', 'aptos:2/fa:0x1'],
    ['another namespace', 'aptos:1', 'aptos:1/coin:0x1'],
    ['an endless text', 'aptos:1', `aptos:1/fa:${'0'.repeat(300)}`],
  ])('leaves an identifier of %s as it is, to be refused', (_name, network, asset) => {
    expect(canonicalAsset(network, asset)).toBe(asset)
  })

  it.each([
    ['aptos:1', aptosAddress],
    ['tezos:NetXdQprcVkpaWU', `${tether}:7`],
    ['near:mainnet', 'usdt.tether-token.near'],
    [assetHub, '1984'],
    ['stacks:1', 'SP3Y.token-susdc'],
    ['cosmos:noble-1', 'uusdc'],
  ])('reads back on %s what toCaip19 wrote of %s', (network, asset) => {
    expect(toCaip19(network, asset)).toMatch(new RegExp(`^${network}/[a-z0-9]+:`))
    expect(canonicalAsset(network, toCaip19(network, asset))).toBe(asset)
  })

  it('has no identifier for assets of a network that CAIP-19 does not name', () => {
    expect(() => toCaip19('toy:1', 'gold')).toThrow(/toy:1/)
  })
})
