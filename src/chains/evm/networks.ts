/** A default token; its EIP-712 domain is read from the chain. */
interface KnownToken {
  readonly symbol: string
  readonly address: `0x${string}`
  readonly decimals: number
}

export interface KnownNetwork {
  readonly chainId: number
  readonly name: string
  /** Symbol of the native coin, which pays for gas; it has 18 decimals. */
  readonly coin: string
  /** Usual time between blocks. */
  readonly blockSeconds: number
  /** A public, rate-limited endpoint for operators that name none. */
  readonly publicRpcUrl: string
  /** Poll interval for receipts in ms: a fraction of the block time. */
  readonly pollIntervalMs: number
  /** Blocks with this many blocks on top count as final. */
  readonly finalityDepth: number
  readonly isTestnet: boolean
  /** Coarse price of the native coin in USD, which only the minimum payment uses; null: no default minimum. */
  readonly coinUsd: number | null
  readonly tokens: readonly KnownToken[]
}

const usdc = (address: `0x${string}`): KnownToken => ({ symbol: 'USDC', address, decimals: 6 })
const usdt0 = (address: `0x${string}`): KnownToken => ({ symbol: 'USDT0', address, decimals: 6 })

// The native coin of every EVM network has them.
export const coinDecimals = 18

/** Prices of gas that are believed without a comparison, in wei. */
export interface PlausibleFees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

const gwei = 1_000_000_000n

// These prices are rounded, and from 2025.
const etherUsd = 3_000

/** Built-in networks have expensive coins. */
export const plausibleFees: PlausibleFees = { maxFeePerGas: 100n * gwei, maxPriorityFeePerGas: 3n * gwei }

/** Gas costs more of a coin that is cheap, on any other network (Polygon requires a tip of 25 gwei). */
export const plausibleFeesElsewhere: PlausibleFees = {
  maxFeePerGas: 1_000n * gwei,
  maxPriorityFeePerGas: 50n * gwei,
}

/** Networks without required configuration. Addresses: Circle's and Tether's published lists. */
export const knownNetworks: readonly KnownNetwork[] = [
  {
    chainId: 1,
    name: 'Ethereum',
    coin: 'ETH',
    blockSeconds: 12,
    publicRpcUrl: 'https://ethereum.reth.rs/rpc',
    pollIntervalMs: 2_000,
    finalityDepth: 64,
    isTestnet: false,
    coinUsd: etherUsd,
    tokens: [usdc('0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48')],
  },
  {
    chainId: 10,
    name: 'OP Mainnet',
    coin: 'ETH',
    blockSeconds: 2,
    publicRpcUrl: 'https://mainnet.optimism.io',
    pollIntervalMs: 500,
    finalityDepth: 64,
    isTestnet: false,
    coinUsd: etherUsd,
    tokens: [
      usdc('0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85'),
      usdt0('0x01bFF41798a0BcF287b996046Ca68b395DbC1071'),
    ],
  },
  {
    chainId: 8453,
    name: 'Base',
    coin: 'ETH',
    blockSeconds: 2,
    publicRpcUrl: 'https://mainnet.base.org',
    pollIntervalMs: 500,
    finalityDepth: 64,
    isTestnet: false,
    coinUsd: etherUsd,
    tokens: [usdc('0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913')],
  },
  {
    chainId: 42161,
    name: 'Arbitrum One',
    coin: 'ETH',
    blockSeconds: 0.25,
    publicRpcUrl: 'https://arb1.arbitrum.io/rpc',
    pollIntervalMs: 250,
    finalityDepth: 256,
    isTestnet: false,
    coinUsd: etherUsd,
    tokens: [
      usdc('0xaf88d065e77c8cC2239327C5EDb3A432268e5831'),
      usdt0('0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9'),
    ],
  },
  {
    chainId: 57073,
    name: 'Ink',
    coin: 'ETH',
    blockSeconds: 1,
    publicRpcUrl: 'https://rpc-gel.inkonchain.com',
    pollIntervalMs: 500,
    finalityDepth: 128,
    isTestnet: false,
    coinUsd: etherUsd,
    tokens: [
      usdc('0x2D270e6886d130D724215A266106e6832161EAEd'),
      usdt0('0x0200C29006150606B650577BBE7B6248F58470c1'),
    ],
  },
  {
    chainId: 80094,
    name: 'Berachain',
    coin: 'BERA',
    blockSeconds: 2,
    publicRpcUrl: 'https://rpc.berachain.com',
    pollIntervalMs: 500,
    finalityDepth: 64,
    isTestnet: false,
    coinUsd: 1,
    tokens: [usdt0('0x779Ded0c9e1022225f8E0630b35a9b54bE713736')],
  },
  {
    chainId: 84532,
    name: 'Base Sepolia',
    coin: 'ETH',
    blockSeconds: 2,
    publicRpcUrl: 'https://sepolia.base.org',
    pollIntervalMs: 500,
    finalityDepth: 64,
    isTestnet: true,
    coinUsd: null,
    tokens: [usdc('0x036CbD53842c5426634e7929541eC2318f3dCF7e')],
  },
  {
    chainId: 11155111,
    name: 'Sepolia',
    coin: 'ETH',
    blockSeconds: 12,
    publicRpcUrl: 'https://11155111.rpc.thirdweb.com',
    pollIntervalMs: 2_000,
    finalityDepth: 64,
    isTestnet: true,
    coinUsd: null,
    tokens: [usdc('0x1c7D4B196Cb0C7B01d743Fbc6116a902379C7238')],
  },
  {
    chainId: 421614,
    name: 'Arbitrum Sepolia',
    coin: 'ETH',
    blockSeconds: 0.25,
    publicRpcUrl: 'https://sepolia-rollup.arbitrum.io/rpc',
    pollIntervalMs: 250,
    finalityDepth: 256,
    isTestnet: true,
    coinUsd: null,
    tokens: [usdc('0x75faf114eafb1BDbe2F0316DF893fd58CE46AA4d')],
  },
  {
    chainId: 11155420,
    name: 'OP Sepolia',
    coin: 'ETH',
    blockSeconds: 2,
    publicRpcUrl: 'https://sepolia.optimism.io',
    pollIntervalMs: 500,
    finalityDepth: 64,
    isTestnet: true,
    coinUsd: null,
    tokens: [usdc('0x5fd84259d66Cd46123540766Be93DFE6D43130D7')],
  },
]

export const findKnownNetwork = (chainId: number): KnownNetwork | null =>
  knownNetworks.find((network) => network.chainId === chainId) ?? null

/** Networks that operators configure themselves: coin, if its symbol is known, and whether they are testnets. */
const otherNetworks: Readonly<Record<number, readonly [coin: string | null, isTestnet: boolean]>> = {
  56: ['BNB', false],
  97: ['BNB', true],
  100: ['xDAI', false],
  130: ['ETH', false],
  137: ['POL', false],
  480: ['ETH', false],
  1328: ['SEI', true],
  2201: [null, true],
  11124: ['ETH', true],
  17000: ['ETH', true],
  31337: ['ETH', true],
  42220: ['CELO', false],
  43113: ['AVAX', true],
  43114: ['AVAX', false],
  59144: ['ETH', false],
  72344: [null, true],
  80002: ['POL', true],
  80069: ['BERA', true],
  560048: ['ETH', true],
  763373: ['ETH', true],
  11142220: ['CELO', true],
  324705682: [null, true],
}

/** Null where the network is neither built in nor listed above. */
interface ChainFacts {
  readonly coin: string | null
  readonly isTestnet: boolean
  readonly blockSeconds: number | null
}

export const findChainFacts = (chainId: number): ChainFacts => {
  const known = findKnownNetwork(chainId)
  if (known !== null) return known
  const [coin = null, isTestnet = false] = otherNetworks[chainId] ?? []
  return { coin, isTestnet, blockSeconds: null }
}
