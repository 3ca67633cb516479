import { withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { RecipientStatements, StoredStatement } from '../../ports/recipientStatements.js'
import type { SignInNonces } from '../../ports/signInNonces.js'
import type { RecipientView } from '../../protocol/recipients.js'
import { type SignInReason, signInReasons } from '../../protocol/siwx.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { PublicProof } from '../../schemes/scheme.js'
import type { Nonces } from '../siwx/nonces.js'
import type { FindConfigured } from './findConfigured.js'
import { readDraft } from './readDraft.js'
import { messageLifetimeMs, writeRecipientMessage } from './recipientMessage.js'
import type { RecipientUseCases } from './useCases.js'

export interface StateRecipientDependencies {
  readonly registry: SchemeRegistry
  readonly statements: RecipientStatements
  /** It overrides what accounts state. */
  readonly findConfigured: FindConfigured
  readonly nonces: Nonces
  readonly usedNonces: SignInNonces
  readonly clock: Clock
}

const maxStatements = 1_000
const walletDeadlineMs = 5_000
// Clocks of instances differ.
const nonceMarginMs = 600_000

const nonceDomain = (accountId: string): string => `recipients ${accountId}`

export const createWriteMessage =
  ({
    registry,
    nonces,
    clock,
  }: Pick<StateRecipientDependencies, 'registry' | 'nonces' | 'clock'>): RecipientUseCases['writeMessage'] =>
  ({ id: accountId }, draft, at) => {
    const { recipient, demands } = readDraft(registry, draft)
    // Whole seconds, which is what the nonce can hold.
    const endMs = Math.floor(clock.now().getTime() / 1_000) * 1_000 + messageLifetimeMs
    const expiresAt = new Date(endMs)
    const nonce = nonces.issue(nonceDomain(accountId), expiresAt)
    return {
      message: writeRecipientMessage({ accountId, recipient, demands, at, nonce, expiresAt }),
      nonce,
      expirationTime: expiresAt.toISOString(),
    }
  }

/** The nonce is used last, by a signature that is valid. */
export const createStateRecipient =
  ({
    registry,
    statements,
    findConfigured,
    nonces,
    usedNonces,
    clock,
  }: StateRecipientDependencies): RecipientUseCases['stateRecipient'] =>
  async ({ id: accountId }, signed, { at, by }) => {
    const { recipient, demands, proof } = readDraft(registry, signed)
    if (findConfigured(recipient) !== null) {
      throw new AppError('FORBIDDEN', 'The configuration of this instance states what claims on it must show')
    }
    const { nonce, signature, publicKey = null } = signed
    const domain = nonceDomain(accountId)
    const expiresAt = nonces.findExpiry(nonce)
    if (expiresAt === null || !nonces.isIssued(nonce, domain, clock.now())) throw refuse('siwx_nonce_unknown')
    const text = writeRecipientMessage({ accountId, recipient, demands, at, nonce, expiresAt })
    if (!(await isSigned(proof, { account: recipient.payTo, text, signature, publicKey }))) {
      throw refuse('siwx_signature_invalid')
    }
    const keptUntil = new Date(expiresAt.getTime() + nonceMarginMs)
    if (!(await usedNonces.use({ domain, nonce, expiresAt: keptUntil }))) throw refuse('siwx_nonce_used')
    const stated = await statements.state({ ...recipient, accountId, demands }, { by, maxStatements })
    if (stated === null) {
      throw new AppError(
        'INVALID_REQUEST',
        `A project has statements for at most ${maxStatements} recipients`,
      )
    }
    return viewStatement(stated, false)
  }

const isSigned = async (
  { isSignedBy }: PublicProof,
  claim: Parameters<NonNullable<PublicProof['isSignedBy']>>[0],
): Promise<boolean> => {
  if (isSignedBy === undefined) return false
  try {
    return await withSignal(isSignedBy(claim), AbortSignal.timeout(walletDeadlineMs))
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', 'The network cannot be read at the moment', {
      cause,
      retryAfterSeconds: 5,
    })
  }
}

const refuse = (reason: SignInReason): AppError =>
  new AppError('SIGN_IN_FAILED', signInReasons[reason], { signInReason: reason })

export const viewStatement = (
  { network, payTo, demands, statedAt }: StoredStatement,
  isOverridden: boolean,
): RecipientView => ({
  network,
  payTo,
  claims: { ...demands },
  statedAt: statedAt.toISOString(),
  isOverridden,
})
