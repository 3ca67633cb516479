import { defineChain } from '../chain.js'
import { readSolanaSettings } from './settings.js'

export const solana = defineChain({
  namespace: 'solana',
  readSettings: readSolanaSettings,
  load: () => import('./open.js'),
  loadOffline: () => import('./offline/listOfflineSchemes.js'),
  loadSignIn: () => import('./signIn/verify.js'),
})
