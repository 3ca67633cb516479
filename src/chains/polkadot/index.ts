import { defineChain } from '../chain.js'
import { readPolkadotSettings } from './settings.js'

export const polkadot = defineChain({
  namespace: 'polkadot',
  readSettings: readPolkadotSettings,
  load: () => import('./open.js'),
})
