import { open } from '../../../src/chains/tezos/open.js'
import { readTezosSettings } from '../../../src/chains/tezos/settings.js'
import { type DirectSchemeOptions, openDirectScheme } from '../../support/directScheme.js'
import { patientTimeoutMs } from '../../support/rpcProxy.js'
import { usdt } from '../../support/tezos/payment.js'

export const octezAt = (url: string) => ({ TEZOS_RPC_URL_ghostnet: url })
export const tzktAt = (url: string) => ({ TEZOS_TZKT_URL_ghostnet: url })

export const openTezos = (sources: Readonly<Record<string, string>>, options: DirectSchemeOptions = {}) =>
  openDirectScheme(
    { readSettings: readTezosSettings, open },
    {
      TEZOS_TOKENS_ghostnet: `${usdt}=USDt/6`,
      TEZOS_POLL_INTERVAL_MS_ghostnet: '100',
      TEZOS_RPC_TIMEOUT_MS: patientTimeoutMs,
      TEZOS_VERIFY_WAIT_MS: '100',
      ...sources,
    },
    options,
  )
