/**
 * Network names of other ecosystems and their CAIP-2 identifiers: all are accepted, and all are announced in
 * `/supported`. Responses repeat the name that the caller used.
 */
export const networkAliases: Readonly<Record<string, string>> = {
  ethereum: 'eip155:1',
  sepolia: 'eip155:11155111',
  base: 'eip155:8453',
  'base-mainnet': 'eip155:8453',
  'base-sepolia': 'eip155:84532',
  optimism: 'eip155:10',
  'optimism-sepolia': 'eip155:11155420',
  arbitrum: 'eip155:42161',
  'arbitrum-sepolia': 'eip155:421614',
  ink: 'eip155:57073',
  berachain: 'eip155:80094',
  polygon: 'eip155:137',
  'polygon-amoy': 'eip155:80002',
  avalanche: 'eip155:43114',
  'avalanche-fuji': 'eip155:43113',
  sei: 'eip155:1329',
  'sei-testnet': 'eip155:1328',
  abstract: 'eip155:2741',
  'abstract-testnet': 'eip155:11124',
  iotex: 'eip155:4689',
  peaq: 'eip155:3338',
  story: 'eip155:1514',
  educhain: 'eip155:41923',
  'skale-base-sepolia': 'eip155:324705682',
  megaeth: 'eip155:4326',
  monad: 'eip155:143',
  stable: 'eip155:988',
  'stable-testnet': 'eip155:2201',
  xdc: 'eip155:50',
  'xrpl-evm': 'eip155:1440000',
  celo: 'eip155:42220',
  'celo-sepolia': 'eip155:11142220',
  radius: 'eip155:723487',
  'radius-testnet': 'eip155:72344',
  'skale-base': 'eip155:1187947933',
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-mainnet-beta': 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-devnet': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  ton: 'ton:mainnet',
  'ton-mainnet': 'ton:mainnet',
  'ton-testnet': 'ton:testnet',
  'ton:-239': 'ton:mainnet',
  'ton:-3': 'ton:testnet',
  'tvm:-239': 'ton:mainnet',
  'tvm:-3': 'ton:testnet',
  'tron:0x2b6653dc': 'tron:mainnet',
  'tron:0xcd8690dc': 'tron:nile',
  'tron:0x94a9059e': 'tron:shasta',
  'polkadot:68d56f15f85d3136970ec16946040bc1752654e906147f7e43e9d539d7c3de2f':
    'polkadot:68d56f15f85d3136970ec16946040bc1',
  // t402 names Westend's Asset Hub by the genesis of its relay chain.
  'polkadot:e143f23803ac50e8f6f8e62695d1ce9e': 'polkadot:67f9723393ef76214df0118c34bbbd3d',
  'polkadot:e143f23803ac50e8f6f8e62695d1ce9e4e1d68aa36c1cd2cfd15340213f3423e':
    'polkadot:67f9723393ef76214df0118c34bbbd3d',
  'polkadot:67f9723393ef76214df0118c34bbbd3dbebc8ed46a10973a8c969d48fe7598c9':
    'polkadot:67f9723393ef76214df0118c34bbbd3d',
}

const knownNames = new Map(Object.entries(networkAliases))

/** Unknown names are returned unchanged. */
export const canonicalNetwork = (name: string): string => knownNames.get(name) ?? name

interface NetworkAlias {
  readonly name: string
  /** Protocol version whose clients use such names: 1 for short names, 2 for CAIP-2 forms. */
  readonly version: 1 | 2
}

const aliasesByNetwork = new Map<string, NetworkAlias[]>()
for (const [name, network] of knownNames) {
  const listed = aliasesByNetwork.get(network) ?? []
  listed.push({ name, version: name.includes(':') ? 2 : 1 })
  aliasesByNetwork.set(network, listed)
}

/** Every other name of a CAIP-2 identifier, the most common first. */
export const listNetworkAliases = (network: string): readonly NetworkAlias[] =>
  aliasesByNetwork.get(network) ?? []

/** The CAIP-2 namespace of a canonical name: `eip155`. */
export const namespaceOf = (network: string): string => network.slice(0, network.indexOf(':'))
