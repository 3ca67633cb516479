import { open } from '../../../src/chains/aptos/open.js'
import { readAptosSettings } from '../../../src/chains/aptos/settings.js'
import { usdt } from '../../support/aptos/payment.js'
import { openDirectScheme } from '../../support/directScheme.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'

export const testnetEnvironment = (url: string): Record<string, string> => ({
  APTOS_RPC_URL_testnet: url,
  APTOS_TOKENS_testnet: `${usdt}=USDT/6`,
  APTOS_POLL_INTERVAL_MS_testnet: '100',
  APTOS_RPC_TIMEOUT_MS: patientTimeoutMs,
  APTOS_VERIFY_WAIT_MS: '100',
})

export const openAptos = (
  environment: Readonly<Record<string, string>>,
  options: Parameters<typeof openDirectScheme>[2] = {},
) => openDirectScheme({ readSettings: readAptosSettings, open }, environment, options)
