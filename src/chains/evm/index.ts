import { defineChain } from '../chain.js'
import { evmVariables, readEvmSettings } from './settings.js'

/** The manifest of the EVM family. It imports no SDK; `open.ts` does, when the family is enabled. */
export const evm = defineChain({
  namespace: 'eip155',
  variables: evmVariables,
  readSettings: readEvmSettings,
  load: () => import('./open.js'),
  loadOffline: () => import('./offline/listOfflineSchemes.js'),
  loadSignIn: () => import('./signIn/verify.js'),
  loadDeploy: () => import('./deploy.js'),
})
