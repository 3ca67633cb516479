import { AppError } from '../../errors.js'
import type { PaymentExtension } from '../../extensions/extension.js'
import { siwx } from '../../extensions/siwx/declaration.js'
import { findTypedData, listMessages } from '../../extensions/siwx/messages.js'
import {
  findSignInProblem,
  readProof,
  readTime,
  type SignInExpectation,
} from '../../extensions/siwx/proof.js'
import type { Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Job } from '../../ports/job.js'
import type { SignatureVerdict, SignInNonces, WalletSignatures } from '../../ports/walletSignatures.js'
import {
  maxSignInAgeSeconds,
  type SignInFields,
  type SignInProblem,
  type SignInProof,
  type SignInReason,
  signInReasons,
} from '../../protocol/siwx.js'
import type { SiwxUseCases, VerifyRequest } from '../useCases.js'
import { createIssueNonce, createNonces, listChains, type Nonces, readOrigin } from './nonces.js'

interface SiwxDependencies extends Omit<VerifySignInDependencies, 'nonces'> {
  /** It seals for the purpose `sign-in-nonce`. */
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

interface VerifySignInDependencies {
  readonly wallets: WalletSignatures
  readonly nonces: Nonces
  readonly usedNonces: SignInNonces
  readonly clock: Clock
  /** By how much the signer's clock may be ahead; default 60. */
  readonly clockToleranceSeconds?: number
}

const defaultToleranceSeconds = 60
const defaultMaxAgeSeconds = 300

/**
 * The nonce is used last, by a signature that is valid: otherwise any caller could consume the nonces of others. It is
 * used for everyone, not for the caller: another API key or instance would accept the same proof again.
 */
const createVerifySignIn = (dependencies: VerifySignInDependencies): SiwxUseCases['verifySignIn'] => {
  const { wallets, nonces, usedNonces, clock } = dependencies
  const toleranceMs = (dependencies.clockToleranceSeconds ?? defaultToleranceSeconds) * 1_000

  return async (request, requester) => {
    const expected = readExpectation(request, toleranceMs)
    const { fields, scheme, signature } = readRequestedProof(request)
    const now = clock.now()
    const problem = findSignInProblem(fields, expected, now.getTime())
    if (problem !== null) throw refuse(problem)
    const { domain, nonce, chainId } = fields
    if (request.requireIssuedNonce === true && !nonces.isIssued(nonce, domain, now)) {
      throw refuse({ reason: 'siwx_nonce_unknown', field: 'nonce' })
    }

    const verdict = await wallets.verify({
      network: chainId,
      address: fields.address,
      scheme,
      messages: listMessages(fields),
      typedData: findTypedData(fields),
      domain,
      nonce,
      at: now,
      signature,
      ...(requester === undefined ? {} : { requester }),
    })
    if (verdict.state !== 'valid') throw refuseVerdict(verdict.state, chainId)
    const isFirst = await usedNonces.use({ domain, nonce, expiresAt: findLastUse(fields) })
    if (!isFirst) throw refuse({ reason: 'siwx_nonce_used', field: 'nonce' })
    return describeSignIn(fields, verdict)
  }
}

const readExpectation = (request: VerifyRequest, toleranceMs: number): SignInExpectation => ({
  ...readOrigin(request.uri, request.domain),
  chains: listChains(request),
  nonce: request.nonce ?? null,
  resources: request.resources ?? [],
  maxAgeMs: (request.maxAgeSeconds ?? defaultMaxAgeSeconds) * 1_000,
  toleranceMs,
})

const readRequestedProof = ({ header, proof }: VerifyRequest): SignInProof => {
  if ((header === undefined) === (proof === undefined)) {
    throw new AppError('INVALID_REQUEST', 'Either header or proof is required, not both')
  }
  const reading = readProof(header ?? proof)
  if ('reason' in reading) throw refuse(reading)
  return reading
}

const refuse = ({ reason, field }: SignInProblem): AppError => {
  const sentence = signInReasons[reason]
  return new AppError('SIGN_IN_FAILED', field === undefined ? sentence : `${sentence} (${field})`, {
    signInReason: reason,
  })
}

const refuseVerdict = (state: Exclude<SignatureVerdict['state'], 'valid'>, network: string): AppError => {
  if (state === 'unavailable') {
    return new AppError(
      'SERVICE_UNAVAILABLE',
      `No node of ${network} answered; the wallet could not be asked`,
      {
        operationalCode: 'SVC-4001',
        retryAfterSeconds: 5,
      },
    )
  }
  return refuse({ reason: verdictReasons[state] })
}

const verdictReasons = {
  invalid: 'siwx_signature_invalid',
  invalid_address: 'siwx_address_invalid',
  unsupported: 'siwx_chain_unsupported',
  wrong_scheme: 'siwx_scheme_mismatch',
  not_configured: 'siwx_wallet_unverifiable',
} as const satisfies Readonly<Record<string, SignInReason>>

// Clocks of instances differ.
const marginMs = 600_000

/** When no caller can accept the message any more, whatever maximum age it sets. */
const findLastUse = ({ issuedAt, expirationTime }: SignInFields): Date => {
  const tooOldAt = (readTime(issuedAt) ?? 0) + maxSignInAgeSeconds * 1_000
  const expiresAt = expirationTime === null ? null : readTime(expirationTime)
  return new Date(Math.min(tooOldAt, expiresAt ?? tooOldAt) + marginMs)
}

const describeSignIn = (
  fields: SignInFields,
  { address, scheme }: Extract<SignatureVerdict, { readonly state: 'valid' }>,
) => {
  const { chainId, domain, uri, nonce, issuedAt, expirationTime, requestId, statement, resources } = fields
  return {
    isValid: true,
    address,
    chainId,
    account: `${chainId}:${address}`,
    domain,
    uri,
    nonce,
    issuedAt,
    ...(expirationTime === null ? {} : { expirationTime }),
    ...(requestId === null ? {} : { requestId }),
    ...(statement === null ? {} : { statement }),
    resources: resources ?? [],
    signatureScheme: scheme,
  } as const
}
