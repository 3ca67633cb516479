import { defineChain } from '../chain.js'
import { readTronSettings, tronVariables } from './settings.js'

export const tron = defineChain({
  namespace: 'tron',
  variables: tronVariables,
  readSettings: readTronSettings,
  load: () => import('./open.js'),
  loadOffline: () => import('./offline/listOfflineSchemes.js'),
})
