import { open } from '../../../src/chains/stacks/open.js'
import { readStacksSettings } from '../../../src/chains/stacks/settings.js'
import { openDirectScheme } from '../../support/directScheme.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'

export const testnetEnvironment = (url: string, ...tokens: string[]): Record<string, string> => ({
  STACKS_RPC_URL_testnet: url,
  STACKS_TOKENS_testnet: tokens.map((token) => `${token}=USD/6`).join(),
  STACKS_CONFIRMATIONS_testnet: '2',
  STACKS_POLL_INTERVAL_MS_testnet: '100',
  STACKS_RPC_TIMEOUT_MS: patientTimeoutMs,
  STACKS_VERIFY_WAIT_MS: '0',
})

export const openScheme = (environment: Readonly<Record<string, string>>) =>
  openDirectScheme({ readSettings: readStacksSettings, open }, environment)
