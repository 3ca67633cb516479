import { defineChain } from '../chain.js'
import { readTonSettings } from './settings.js'

/** TON: `exact` in jettons, paid by the client's wallet or relayed. */
export const ton = defineChain({
  namespace: 'ton',
  readSettings: readTonSettings,
  load: () => import('./open.js'),
})
