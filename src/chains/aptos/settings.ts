import { defineDirectSettings } from '../common/direct/settings.js'
import { knownNetworks } from './networks.js'

const { read, variables } = defineDirectSettings({
  namespace: 'aptos',
  networks: knownNetworks,
  chainIdForm: /^[1-9][0-9]{0,2}$/,
  assetForm: /^0x[0-9a-fA-F]{1,64}$/,
  exampleAsset: '0xbae207659db88bea0cbead6da0ed00aac12edcdda169e591cd41c94180b46f3b',
  hasApiKey: true,
  defaultPollIntervalMs: 500,
  defaultCrossCheckAmount: 1_000_000_000n,
  own: {},
})

export const readAptosSettings = read
export const aptosVariables = variables
