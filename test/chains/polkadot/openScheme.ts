import { open } from '../../../src/chains/polkadot/open.js'
import { readPolkadotSettings } from '../../../src/chains/polkadot/settings.js'
import { type DirectSchemeOptions, openDirectScheme } from '../../support/directScheme.js'
import { usdc, usdt } from '../../support/polkadot/westend.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'

export const westendEnvironment = (url: string): Record<string, string> => ({
  POLKADOT_RPC_URL_westend: url,
  POLKADOT_TOKENS_westend: `${usdt}=USDT/6,${usdc}=USDC/6`,
  POLKADOT_POLL_INTERVAL_MS_westend: '100',
  POLKADOT_RPC_TIMEOUT_MS: patientTimeoutMs,
  POLKADOT_VERIFY_WAIT_MS: '0',
})

export const openScheme = (
  environment: Readonly<Record<string, string>>,
  options: DirectSchemeOptions = {},
) => openDirectScheme({ readSettings: readPolkadotSettings, open }, environment, options)
