import { wholeNumber } from '../../platform/wholeNumber.js'
import { type DirectNetworkSettings, defineDirectSettings } from '../common/direct/settings.js'
import { knownNetworks } from './networks.js'

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
