import { defineChain } from '../chain.js'
import { readAptosSettings } from './settings.js'

export const aptos = defineChain({
  namespace: 'aptos',
  readSettings: readAptosSettings,
  load: () => import('./open.js'),
})
