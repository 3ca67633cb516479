import { withTimeout } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import { writeT402Message } from '../../extensions/siwx/messages.js'
import type { Sealer } from '../../ports/accountStore.js'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type {
  Recipient,
  RecipientStatement,
  RecipientStatements,
  StoredStatement,
} from '../../ports/recipients.js'
import type { SignInNonces } from '../../ports/walletSignatures.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type {
  ClaimDemands,
  ConfiguredRecipient,
  RecipientDraft,
  RecipientView,
} from '../../protocol/recipients.js'
import { type SignInReason, signInReasons } from '../../protocol/siwx.js'
import { type ClaimSignatures, findPublicProof, type PublicProof } from '../../schemes/publicProof.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import type { Scheme } from '../../schemes/scheme.js'
import { normalizeWith } from '../../schemes/spelling.js'
import type { MailChange } from '../dashboard/mails.js'
import { createNonces, type Nonces } from '../siwx/nonces.js'
import type { RecipientUseCases, ServiceAddress } from '../useCases.js'

interface RecipientsDependencies extends Omit<StateRecipientDependencies, 'nonces'> {
  /** It seals for the purpose `sign-in-nonce`. */
  readonly sealer: Pick<Sealer, 'fingerprint' | 'fingerprints'>
  readonly mailChange: MailChange
}

export const createRecipients = (
  dependencies: RecipientsDependencies,
): { readonly useCases: RecipientUseCases } => {
  const { registry, statements, findConfigured, mailChange } = dependencies
  const shared = { ...dependencies, nonces: createNonces(dependencies.sealer) }
  const stateRecipient = createStateRecipient(shared)
  return {
    useCases: {
      writeMessage: createWriteMessage(shared),
      stateRecipient: async (account, signed, context) => {
        const stated = await stateRecipient(account, signed, context)
        mailChange(account, 'recipient.stated', context.by)
        return stated
      },
      listRecipients: async ({ id }) => ({
        recipients: (await statements.list(id)).map((each) =>
          viewStatement(each, findConfigured(each) !== null),
        ),
      }),
      deleteRecipient: async (account, named, by) => {
        const { scheme, payTo } = findRecipient(registry, named)
        const { network } = scheme.kind
        if (!(await statements.delete(account.id, { network, payTo }, by))) {
          throw new AppError('NOT_FOUND', 'The project has stated nothing for this recipient')
        }
        mailChange(account, 'recipient.deleted', by)
        return { network, payTo, deleted: true }
      },
    },
  }
}

interface StateRecipientDependencies {
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

const createWriteMessage =
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
const createStateRecipient =
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
  { signatures }: PublicProof,
  claim: Parameters<ClaimSignatures['isSignedBy']>[0],
): Promise<boolean> => {
  if (signatures === null) return false
  try {
    return await withTimeout(signatures.isSignedBy(claim), walletDeadlineMs)
  } catch (cause) {
    throw new AppError('SERVICE_UNAVAILABLE', 'The network cannot be read at the moment', {
      cause,
      retryAfterSeconds: 5,
    })
  }
}

const refuse = (reason: SignInReason): AppError =>
  new AppError('SIGN_IN_FAILED', signInReasons[reason], { signInReason: reason })

const viewStatement = (
  { network, payTo, demands, statedAt }: StoredStatement,
  isOverridden: boolean,
): RecipientView => ({
  network,
  payTo,
  claims: { ...demands },
  statedAt: statedAt.toISOString(),
  isOverridden,
})

interface ReadDraft {
  readonly recipient: Recipient
  readonly demands: ClaimDemands
  readonly proof: PublicProof
}

/** Throws INVALID_REQUEST. */
const readDraft = (registry: SchemeRegistry, draft: RecipientDraft): ReadDraft => {
  const { scheme, proof, payTo } = findRecipient(registry, draft)
  const { memo = false, signedClaim = false, uniqueAmount = false, ownKey = false } = draft.claims
  const demands = { memo, signedClaim, uniqueAmount, ownKey }
  if (!Object.values(demands).includes(true)) {
    throw new AppError('INVALID_REQUEST', 'claims: at least one demand must be true')
  }
  if (memo && !proof.carriesMemo) {
    throw new AppError('INVALID_REQUEST', 'claims.memo: transfers of the network carry no memo')
  }
  if (signedClaim && proof.signatures === null) {
    throw new AppError('INVALID_REQUEST', 'claims.signedClaim: wallets of the network sign no messages')
  }
  const { network } = scheme.kind
  return { recipient: { network, payTo }, demands, proof }
}

/** Returns `payTo` in normal form. Throws INVALID_REQUEST. */
const findRecipient = (
  registry: SchemeRegistry,
  { network, payTo }: Recipient,
): { readonly scheme: Scheme; readonly proof: PublicProof; readonly payTo: string } => {
  const canonical = canonicalNetwork(network)
  const scheme = registry.list().find((each) => each.kind.network === canonical && findPublicProof(each))
  const proof = scheme === undefined ? null : findPublicProof(scheme)
  if (scheme === undefined || proof === null) {
    throw new AppError('INVALID_REQUEST', 'network: this instance serves no exact-direct there')
  }
  if (!scheme.network.isAddress(payTo)) {
    throw new AppError('INVALID_REQUEST', 'payTo: must be an address of the network')
  }
  return { scheme, proof, payTo: normalizeWith(scheme.network, payTo) }
}

const messageLifetimeMs = 600_000

interface MessageTerms {
  readonly accountId: string
  readonly recipient: Recipient
  readonly demands: ClaimDemands
  readonly at: ServiceAddress
  readonly nonce: string
  /** When the nonce ends. */
  readonly expiresAt: Date
}

/**
 * CAIP-122, so that wallets show what it is. It names the account and what is stated: a signature for another service,
 * account or statement is none for this one.
 */
const writeRecipientMessage = (terms: MessageTerms): string => {
  const { accountId, recipient, demands, at, nonce, expiresAt } = terms
  return writeT402Message({
    domain: at.host,
    address: recipient.payTo,
    statement:
      `Account ${accountId} states what claims on exact-direct payments to this wallet must show: ` +
      `${listDemands(demands).join(', ')}.`,
    uri: at.url,
    version: '1',
    chainId: recipient.network,
    nonce,
    issuedAt: new Date(expiresAt.getTime() - messageLifetimeMs).toISOString(),
    expirationTime: expiresAt.toISOString(),
    notBefore: null,
    requestId: null,
    resources: null,
  })
}

const listDemands = ({ memo, signedClaim, uniqueAmount, ownKey }: ClaimDemands): readonly string[] => [
  ...(memo ? ['the preimage of the memo'] : []),
  ...(signedClaim ? ['a claim signed by the payer'] : []),
  ...(uniqueAmount ? ['a unique amount'] : []),
  ...(ownKey ? ['an API key of the account'] : []),
]

/** What the operator's configuration states; null: nothing. */
export type FindConfigured = (recipient: Recipient) => RecipientStatement | null

/** Throws for an entry that its network contradicts; the message is for operators. */
export const createFindConfigured = (
  configured: readonly ConfiguredRecipient[],
  registry: SchemeRegistry,
  logger: Logger,
): FindConfigured => {
  const statements = new Map<string, RecipientStatement>()
  for (const { network, payTo, demands, accountId } of configured) {
    const scheme = registry.list().find((each) => each.kind.network === network && findPublicProof(each))
    const proof = scheme === undefined ? null : findPublicProof(scheme)
    if (scheme === undefined || proof === null) {
      logger.warn({ network, payTo }, 'exact_direct.recipient_of_unserved_network')
      continue
    }
    if (!scheme.network.isAddress(payTo)) throw new Error(`${payTo} is not an address of ${network}`)
    if (demands.memo && !proof.carriesMemo) {
      throw new Error(`transfers of ${network} carry no memo`)
    }
    if (demands.signedClaim && proof.signatures === null) {
      throw new Error(`wallets of ${network} sign no messages`)
    }
    const recipient = { network, payTo: normalizeWith(scheme.network, payTo) }
    statements.set(keyOf(recipient), { ...recipient, demands, accountId })
  }
  return (recipient) => statements.get(keyOf(recipient)) ?? null
}

const keyOf = ({ network, payTo }: Recipient): string => `${network} ${payTo}`
