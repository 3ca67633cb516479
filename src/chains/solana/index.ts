import { defineChain } from '../chain.js'
import { readSolanaSettings } from './settings.js'

/** Solana clusters: `exact` with partially signed transactions. */
export const solana = defineChain({
  namespace: 'solana',
  readSettings: readSolanaSettings,
  load: () => import('./open.js'),
})
