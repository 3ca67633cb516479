import { defineChain } from '../chain.js'
import { readTronSettings } from './settings.js'

export const tron = defineChain({
  namespace: 'tron',
  readSettings: readTronSettings,
  load: () => import('./open.js'),
  loadOffline: () => import('./offline/listOfflineSchemes.js'),
})
