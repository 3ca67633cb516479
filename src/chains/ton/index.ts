import { defineChain } from '../chain.js'
import { readTonSettings } from './settings.js'

export const ton = defineChain({
  namespace: 'ton',
  readSettings: readTonSettings,
  load: () => import('./open.js'),
  loadOffline: () => import('./offline/listOfflineSchemes.js'),
})
