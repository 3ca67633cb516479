import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { RuleName } from '../../../protocol/rules/ruleNames.js'
import type { Trace } from '../../../protocol/rules/rules.js'
import type { Refusal } from '../../../schemes/scheme.js'
import { describeForeignMethod } from '../../../schemes/transferMethod.js'
import { decodeBase58 } from '../../common/base58.js'
import { isValidEd25519Signature } from '../../common/ed25519.js'
import { describeAuthorization, type OfferedTokens } from '../../common/settling/exactScheme.js'
import { readAddress } from '../encoding/keys.js'
import type { SolanaNetworkSettings } from '../settings.js'
import { checkTransaction, type Terms, transactionRules } from './checks.js'
import { decodeProof, encodeTransaction, type Transaction } from './decode.js'
import { readTransfer, type Transfer } from './instructions.js'

/** Breaks no rule; only our signature is missing. */
export interface Prepared {
  readonly transaction: Transaction
  readonly transfer: Transfer
  readonly payTo: string
  readonly authorizationId: string
  /** Base64, with zeros in place of our signature. */
  readonly unsigned: string
}

type Preparation = { readonly prepared: Prepared } | { readonly refused: Refusal }

type TokenPolicy = Pick<SolanaNetworkSettings, 'network' | 'tokens' | 'knownTokens' | 'acceptsAnyToken'>

/** Everything without chain access: structure, rules, the payer's signature. */
export type Prepare = (payment: Payment, trace?: Trace) => Preparation

export const createPrepare = (network: TokenPolicy, terms: Terms): Prepare => {
  const { isOffered } = listOffered(network)
  return (payment, trace) => {
    trace?.expect(preparedRules)
    const refuse = (name: RuleName, payer: string | null, reason: Reason, message?: string) => {
      trace?.note(name, message === undefined ? reason : { reason, message })
      return refused(payer, reason, message)
    }
    const foreign = describeForeignMethod(payment, ownMethod)
    if (foreign !== null) return refuse('transfer_method', null, 'unsupported_asset_transfer_method', foreign)
    trace?.note('transfer_method', null)
    const text = payment.proof.transaction
    if (typeof text !== 'string') {
      const message = 'payload.transaction: must be base64'
      return refuse('payload_fields', null, 'invalid_payload_structure', message)
    }
    trace?.note('payload_fields', null)
    const transaction = decodeProof(payment.proof, text)
    if (transaction === null) {
      return refuse('encoding', null, 'invalid_exact_svm_payload_transaction_could_not_be_decoded')
    }
    trace?.note('encoding', null)
    const payer = findPayer(transaction)
    const { requirements } = payment
    if (!isOffered(requirements.asset)) return refuse('asset', payer, 'unsupported_asset')
    trace?.note('asset', null)
    const judgement = checkTransaction({ transaction, requirements, terms }, trace)
    if ('broken' in judgement && trace === undefined) return refused(payer, judgement.broken)
    const isSigned = isSignedBy(transaction, 1)
    trace?.note('signature', isSigned ? null : 'invalid_exact_svm_payload_signature_invalid')
    if ('broken' in judgement) return refused(payer, judgement.broken)
    if (!isSigned) return refused(payer, 'invalid_exact_svm_payload_signature_invalid')
    const prepared: Prepared = {
      transaction,
      transfer: judgement.transfer,
      payTo: requirements.payTo,
      authorizationId: formatAuthorizationId(network.network, transaction),
      unsigned: withFeePayerSignature(transaction, noSignature),
    }
    return { prepared }
  }
}

const ownMethod = { names: ['default'], fields: ['transaction'] } as const

const preparedRules = [
  'transfer_method',
  'payload_fields',
  'encoding',
  'asset',
  ...transactionRules,
  'signature',
] as const

/** Owner of the tokens that any transfer moves; without one the second signer, which is not the fee payer. */
export const findPayer = ({ instructions, keys, requiredSignatures }: Transaction): string | null => {
  const transfer = instructions.map(readTransfer).find((each) => each !== null)
  return transfer?.authority ?? (requiredSignatures === 2 ? (keys[1] ?? null) : null)
}

/** Identifies the signed message; independent of signatures. */
export const formatAuthorizationId = (network: string, { messageHash }: Transaction): string =>
  `${network}/${messageHash}`

const noSignature = new Uint8Array(64)

/** Base64 of the bytes with our signature in its slot. */
export const withFeePayerSignature = ({ message, signatures }: Transaction, ours: Uint8Array): string =>
  encodeTransaction(message, [ours, ...signatures.slice(1)])

export const toRefusal = (payer: string | null, reason: Reason, message?: string): Refusal =>
  message === undefined ? { isValid: false, payer, reason } : { isValid: false, payer, reason, message }

const refused = (payer: string | null, reason: Reason, message?: string): Preparation => ({
  refused: toRefusal(payer, reason, message),
})

export const listOffered = ({
  tokens,
  knownTokens,
  acceptsAnyToken,
}: Omit<TokenPolicy, 'network'>): OfferedTokens => ({
  tokens,
  isOffered: (asset) =>
    readAddress(asset) !== null && (acceptsAnyToken || tokens.some((token) => token.asset === asset)),
  findDecimals: (mint) => knownTokens.find(({ asset }) => asset === mint)?.decimals ?? null,
})

/** Verifies the signature of one required signer, as strictly as validators do. */
export const isSignedBy = ({ keys, signatures, message }: Transaction, signer: number): boolean => {
  const publicKey = decodeBase58(keys[signer] ?? '')
  const signature = signatures[signer]
  return (
    publicKey !== null &&
    signature !== undefined &&
    isValidEd25519Signature({ publicKey, message, signature })
  )
}

/** What a transfer authorizes, with and without a chain. */
export const describeTransfer = ({
  transfer,
  authorizationId,
}: Pick<Prepared, 'transfer' | 'authorizationId'>) =>
  describeAuthorization({
    payer: transfer.authority,
    authorizationId,
    amount: transfer.amount,
    // A blockhash expires after 150 blocks, independent of time.
    expiresAt: null,
  })
