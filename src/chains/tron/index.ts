import { defineChain } from '../chain.js'
import { readTronSettings } from './settings.js'

/** TRON networks: `exact` by a TRC-20 transfer that the payer signed. Imports no SDK; `open.ts` does. */
export const tron = defineChain({
  namespace: 'tron',
  readSettings: readTronSettings,
  load: () => import('./open.js'),
})
