import { defineChain } from '../chain.js'
import { readSolanaSettings, solanaVariables } from './settings.js'

export const solana = defineChain({
  namespace: 'solana',
  variables: solanaVariables,
  readSettings: readSolanaSettings,
  load: () => import('./open.js'),
  loadOffline: () => import('./offline/listOfflineSchemes.js'),
  loadSignIn: () => import('./signIn/verify.js'),
})
