import { wholeNumber } from '../../platform/wholeNumber.js'
import {
  type DirectNetworkSettings,
  defineDirectSettings,
  type KnownDirectNetwork,
} from '../common/direct/settings.js'

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

export interface StacksOwnSettings {
  /** Blocks from which a transaction is final, its own included. */
  readonly CONFIRMATIONS: number
  /** Bitcoin blocks that must have followed that of the transaction. */
  readonly BURN_CONFIRMATIONS: number
}

export type StacksNetworkSettings = DirectNetworkSettings<StacksOwnSettings>

export const { read: readStacksSettings, variables: stacksVariables } = defineDirectSettings({
  namespace: 'stacks',
  networks: knownNetworks,
  chainIdForm: /^(?:0|[1-9][0-9]{0,9})$/,
  assetForm: /^S[PMTN][0-9A-HJKMNP-TV-Z]{37,40}\.[a-zA-Z][a-zA-Z0-9_-]{0,127}(?:::[a-zA-Z][!-~]{0,127})?$/,
  exampleAsset: 'SP3Y2ZSH8P7D50B0VBTSX11S7XSG24M1VB9YFQA4K.token-susdc',
  signerForm: /^S[PMTN][0-9A-HJKMNP-TV-Z]{37,40}$/,
  hasApiKey: true,
  defaultPollIntervalMs: 2_000,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: {
    CONFIRMATIONS: wholeNumber(1, 100).default(3),
    BURN_CONFIRMATIONS: wholeNumber(0, 3).default(0),
  },
})
