import type { PaymentExtension } from '../../extensions/extension.js'
import { siwx } from '../../extensions/siwx/siwx.js'
import type { Sealer } from '../../ports/accountStore.js'
import type { Job } from '../../ports/job.js'
import type { SiwxUseCases } from '../useCases.js'
import { createIssueNonce, createNonces } from './nonces.js'
import { createVerifySignIn, type VerifySignInDependencies } from './verifySignIn.js'

interface SiwxDependencies extends Omit<VerifySignInDependencies, 'nonces'> {
  /** For the purpose `sign-in-nonce`. */
  readonly sealer: Pick<Sealer, 'fingerprint' | 'fingerprints'>
}

export interface Siwx {
  readonly useCases: SiwxUseCases
  readonly jobs: Readonly<Record<'purgeSignInNonces', Job>>
  readonly extension: PaymentExtension
}

export const createSiwx = (dependencies: SiwxDependencies): Siwx => {
  const shared = { ...dependencies, nonces: createNonces(dependencies.sealer) }
  return {
    useCases: { issueNonce: createIssueNonce(shared), verifySignIn: createVerifySignIn(shared) },
    jobs: {
      purgeSignInNonces: { everyMs: 600_000, isShared: true, run: dependencies.usedNonces.purge },
    },
    extension: siwx,
  }
}
