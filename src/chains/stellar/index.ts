import type { SignInFamily } from '../chain.js'

/** Wallet sign-in only: no payments are settled on Stellar. Imports no SDK. */
export const stellar: SignInFamily = {
  namespace: 'stellar',
  loadSignIn: () => import('./signIn/verify.js'),
}
