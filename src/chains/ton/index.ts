import { defineChain } from '../chain.js'
import { readTonSettings, tonVariables } from './settings.js'

export const ton = defineChain({
  namespace: 'ton',
  variables: tonVariables,
  readSettings: readTonSettings,
  load: () => import('./open.js'),
  loadOffline: () => import('./offline/listOfflineSchemes.js'),
})
