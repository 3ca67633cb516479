import { type DirectNetworkSettings, defineDirectSettings } from '../common/direct/settings.js'
import { knownNetworks } from './networks.js'

const accountId = /^(?=.{2,64}$)[a-z0-9]+(?:[-_.][a-z0-9]+)*$/

const settings = defineDirectSettings({
  namespace: 'near',
  networks: knownNetworks,
  chainIdForm: /^[a-zA-Z0-9_-]{1,32}$/,
  assetForm: accountId,
  exampleAsset: 'usdt.tether-token.near',
  signerForm: accountId,
  hasApiKey: true,
  defaultPollIntervalMs: 1_000,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: {},
})

export type NearNetworkSettings = DirectNetworkSettings<Readonly<Record<string, never>>>

export const nearVariables = settings.variables
export const readNearSettings = settings.read
