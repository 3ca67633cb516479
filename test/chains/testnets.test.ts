import { describe, expect, it } from 'vitest'
import { knownNetworks as aptos } from '../../src/chains/aptos/settings.js'
import { knownNetworks as cosmos } from '../../src/chains/cosmos/settings.js'
import { knownNetworks as evm, findChainFacts } from '../../src/chains/evm/networks.js'
import { knownNetworks as near } from '../../src/chains/near/settings.js'
import { knownNetworks as polkadot } from '../../src/chains/polkadot/settings.js'
import { knownNetworks as solana } from '../../src/chains/solana/networks.js'
import { knownNetworks as stacks } from '../../src/chains/stacks/settings.js'
import { knownNetworks as tezos } from '../../src/chains/tezos/settings.js'
import { knownNetworks as ton } from '../../src/chains/ton/networks.js'
import { knownNetworks as tron } from '../../src/chains/tron/networks.js'
import { networkAliases } from '../../src/protocol/network.js'

/* Tokens of testnets have no value: an intent and a credit score must not take it for the other. */

// Its aliases are hashes.
const westend = 'polkadot:67f9723393ef76214df0118c34bbbd3d'
const testnetName = /sepolia|testnet|fuji|amoy|devnet|ghostnet|westend|nile|shasta|grand/i

interface Named {
  readonly name: string
  readonly reference: string
  readonly isTestnet: boolean
}

const byNamespace: Readonly<Record<string, readonly Named[]>> = {
  eip155: evm.map(({ chainId, ...each }) => ({ ...each, reference: `${chainId}` })),
  solana,
  ton: ton.map((each) => ({ ...each, reference: each.name })),
  tron: tron.map((each) => ({ ...each, reference: each.name })),
  ...Object.fromEntries(
    Object.entries({ aptos, cosmos, near, polkadot, stacks, tezos }).map(([family, networks]) => [
      family,
      networks.map(({ name, chainId, isTestnet = false }) => ({ name, reference: chainId, isTestnet })),
    ]),
  ),
}

const isTestnet = (network: string): boolean => {
  const [namespace = '', reference = ''] = network.split(':')
  if (namespace === 'eip155') return findChainFacts(Number(reference)).isTestnet
  const known = byNamespace[namespace]?.find((each) => each.reference === reference)
  if (known === undefined) throw new Error(`${network} is in no table`)
  return known.isTestnet
}

describe('a network', () => {
  const aliases = Object.entries(networkAliases)

  it.each(aliases)('%s, of %s, is a testnet if its name says so', (alias, network) => {
    expect(isTestnet(network)).toBe(testnetName.test(`${alias} ${network}`) || network === westend)
  })

  const known = Object.entries(byNamespace).flatMap(([namespace, networks]) =>
    networks.map((each) => [namespace, each.name, each.isTestnet] as const),
  )
  it.each(known)('of %s, %s, is a testnet if its name says so', (_namespace, name, isKnownTestnet) => {
    expect(isKnownTestnet).toBe(testnetName.test(name))
  })
})
