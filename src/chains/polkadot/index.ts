import { defineChain } from '../chain.js'
import { polkadotVariables, readPolkadotSettings } from './settings.js'

export const polkadot = defineChain({
  namespace: 'polkadot',
  variables: polkadotVariables,
  readSettings: readPolkadotSettings,
  load: () => import('./open.js'),
})
