import { defineChain } from '../chain.js'
import { readTronSettings } from './settings.js'

/** TRON networks: `exact` with a signed TRC-20 transfer. */
export const tron = defineChain({
  namespace: 'tron',
  readSettings: readTronSettings,
  load: () => import('./open.js'),
})
