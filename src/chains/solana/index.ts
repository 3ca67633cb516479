import { defineChain } from '../chain.js'
import { readSolanaSettings } from './settings.js'

/** Solana clusters: `exact` by partially signed transactions. Imports no SDK; `open.ts` does, when it is enabled. */
export const solana = defineChain({
  namespace: 'solana',
  readSettings: readSolanaSettings,
  load: () => import('./open.js'),
})
