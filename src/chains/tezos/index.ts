import { defineChain } from '../chain.js'
import { readTezosSettings } from './settings.js'

export const tezos = defineChain({
  namespace: 'tezos',
  readSettings: readTezosSettings,
  load: () => import('./open.js'),
})
