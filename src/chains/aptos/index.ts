import { defineChain } from '../chain.js'
import { aptosVariables, readAptosSettings } from './settings.js'

export const aptos = defineChain({
  namespace: 'aptos',
  variables: aptosVariables,
  readSettings: readAptosSettings,
  load: () => import('./open.js'),
})
