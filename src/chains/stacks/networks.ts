import type { KnownDirectNetwork } from '../common/direct/settings.js'

/** The CAIP-2 reference is the chain id; the tokens are those that t402's specification names as examples. */
export const knownNetworks: readonly KnownDirectNetwork[] = [
  {
    name: 'mainnet',
    chainId: '1',
    tokens: [
      {
        asset: 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K.token-susdc',
        symbol: 'sUSDC',
        decimals: 6,
        isIssuers: false,
      },
    ],
  },
  {
    name: 'testnet',
    chainId: '2147483648',
    isTestnet: true,
    tokens: [
      {
        asset: 'ST1PQHQKV0RJXZFY1DGX8MNSNYVE3VGZJSRTPGZGM.token-susdc',
        symbol: 'sUSDC',
        decimals: 6,
        isIssuers: false,
      },
    ],
  },
]

export const mainnetChainId = '1'
