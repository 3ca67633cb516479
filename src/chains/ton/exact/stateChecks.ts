import type { Address } from '@ton/core'
import type { Reason } from '../../../protocol/reasons.js'
import { type Check, runChecks } from '../../../schemes/checks.js'
import { isValidEd25519Signature } from '../../common/ed25519.js'
import type { Account } from '../rpc/rpc.js'
import type { WalletRequest } from '../wallets/walletMessage.js'
import type { WalletState } from '../wallets/walletState.js'
import type { DecodedPayment } from './decode.js'

interface WalletCandidate {
  readonly decoded: DecodedPayment
  readonly wallet: WalletState
  readonly otherGlobalIds: readonly number[]
}

interface StateCandidate extends WalletCandidate {
  readonly account: Account
  /** According to the jetton master; null if it does not answer. */
  readonly jettonWallet: Address | null
}

type WalletRule = Check<WalletCandidate, Reason>

type Rule = Check<StateCandidate, Reason>

const matchesWalletVersion: WalletRule = ({ decoded, wallet }) =>
  decoded.request.layout === wallet.layout ? null : 'invalid_exact_tvm_payload_w5_actions'

// A client-paid message needs a deployed wallet, and must not carry a state init.
const isDeployedAsRequired: Rule = ({ decoded: { isSponsored, message }, wallet }) => {
  if (!isSponsored && !wallet.isDeployed) return 'wallet_not_deployed'
  return !isSponsored && message.init !== null ? 'invalid_boc_format' : null
}

const acceptsSignatures: WalletRule = ({ wallet }) =>
  wallet.isSignatureAllowed ? null : 'invalid_exact_tvm_payload_signature_mode_mismatch'

// An extension could move the jettons while our message is in flight, and the bounced TON stays with the
// payer.
const hasNoExtensions: WalletRule = ({ decoded: { isSponsored }, wallet }) =>
  isSponsored && wallet.hasExtensions ? 'invalid_exact_tvm_payload_extensions_dict_mismatch' : null

// Context of client wallets in W5 (workchain 0, version 0, subwallet 0).
const clientContext = 0x80000000

/** W5 wallet id: the client context XOR the network's global id. */
const defaultWalletId = (globalId: number): number => (clientContext ^ globalId) >>> 0

/** Whether it is for a W5 wallet of another network. */
export const isForOtherNetwork = (
  { layout, walletId }: WalletRequest,
  otherGlobalIds: readonly number[],
): boolean => layout === 'v5' && otherGlobalIds.map(defaultWalletId).includes(walletId)

const hasWalletId: WalletRule = ({ decoded: { request }, wallet, otherGlobalIds }) =>
  request.walletId === wallet.walletId && !isForOtherNetwork(request, otherGlobalIds)
    ? null
    : 'invalid_exact_tvm_payload_wallet_id_mismatch'

const isSignedByOwner: WalletRule = ({ decoded: { request }, wallet }) =>
  isValidEd25519Signature({
    publicKey: wallet.publicKey,
    message: request.signedHash,
    signature: request.signature,
  })
    ? null
    : 'message_verification_failed'

const hasNextSeqno: Rule = ({ decoded: { request }, wallet }) => {
  if (request.seqno < wallet.seqno) return 'seqno_already_used'
  return request.seqno > wallet.seqno ? 'seqno_too_high' : null
}

const movesAsset: Rule = ({ decoded: { request }, jettonWallet }) =>
  jettonWallet?.equals(request.message.destination) === true ? null : 'asset_mismatch'

// Upper bound of the wallet's own fees: up to 10,000 gas and forwarding one message.
const walletNanoTon = 15_000_000n

const canPayGas: Rule = ({ decoded: { request, isSponsored }, account }) =>
  isSponsored || account.balance >= request.message.nanoTon + walletNanoTon
    ? null
    : 'insufficient_ton_for_gas'

const walletChecks: readonly WalletRule[] = [
  matchesWalletVersion,
  acceptsSignatures,
  hasNoExtensions,
  hasWalletId,
  isSignedByOwner,
]

/** First rule that the wallet breaks, whatever happened on the chain since; null if none. */
export const findFailedWalletCheck = (candidate: WalletCandidate): Reason | null =>
  runChecks(walletChecks, candidate)

const checks: readonly Rule[] = [
  isDeployedAsRequired,
  findFailedWalletCheck,
  hasNextSeqno,
  movesAsset,
  canPayGas,
]

/** First rule that the wallet's chain state breaks, or null. */
export const findFailedStateCheck = (candidate: StateCandidate): Reason | null => runChecks(checks, candidate)
