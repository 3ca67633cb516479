import { defineChain } from '../chain.js'
import { readTezosSettings, tezosVariables } from './settings.js'

export const tezos = defineChain({
  namespace: 'tezos',
  variables: tezosVariables,
  readSettings: readTezosSettings,
  load: () => import('./open.js'),
})
