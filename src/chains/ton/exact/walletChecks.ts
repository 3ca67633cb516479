import type { Address } from '@ton/core'
import type { Reason } from '../../../protocol/reasons.js'
import { isEd25519Signed } from '../../common/ed25519.js'
import type { Account } from '../rpc/rpc.js'
import { defaultWalletId } from '../wallets/walletId.js'
import type { WalletState } from '../wallets/walletState.js'
import type { DecodedPayment } from './decode.js'

/** A payment beside what the chain says of its wallet. */
export interface WalletCandidate {
  readonly decoded: DecodedPayment
  readonly wallet: WalletState
  readonly account: Account
  /** Where the payer's coins are, as the jetton's master says. */
  readonly jettonWallet: Address | null
  /** The global ids of the networks that are not this one. */
  readonly otherGlobalIds: readonly number[]
}

/** One row of the table: null when it holds. */
type Check = (candidate: WalletCandidate) => Reason | null

const isOfTheWalletsVersion: Check = ({ decoded, wallet }) =>
  decoded.request.layout === wallet.layout ? null : 'invalid_exact_tvm_payload_w5_actions'

// A wallet that is only relayed for has no say from outside, and one without its own code none at all.
const canExecute: Check = ({ decoded: { isSponsored, message }, wallet }) => {
  if (!isSponsored && !wallet.isDeployed) return 'wallet_not_deployed'
  return !isSponsored && message.init !== null ? 'invalid_boc_format' : null
}

const takesSignatures: Check = ({ wallet }) =>
  wallet.takesSignatures ? null : 'invalid_exact_tvm_payload_signature_mode_mismatch'

// An extension takes the coins away while our message is on its way, and the TON that bounces stays with the payer.
const actsAlone: Check = ({ decoded: { isSponsored }, wallet }) =>
  isSponsored && wallet.hasExtensions ? 'invalid_exact_tvm_payload_extensions_dict_mismatch' : null

const isForThisWallet: Check = ({ decoded: { request }, wallet, otherGlobalIds }) => {
  const isForeign = wallet.layout === 'v5' && otherGlobalIds.map(defaultWalletId).includes(request.walletId)
  return request.walletId === wallet.walletId && !isForeign
    ? null
    : 'invalid_exact_tvm_payload_wallet_id_mismatch'
}

const isSignedByTheOwner: Check = ({ decoded: { request }, wallet }) =>
  isEd25519Signed({
    publicKey: wallet.publicKey,
    message: request.signedHash,
    signature: request.signature,
  })
    ? null
    : 'message_verification_failed'

const isNext: Check = ({ decoded: { request }, wallet }) => {
  if (request.seqno < wallet.seqno) return 'seqno_already_used'
  return request.seqno > wallet.seqno ? 'seqno_too_high' : null
}

const movesTheAsset: Check = ({ decoded: { request }, jettonWallet }) =>
  jettonWallet?.equals(request.message.destination) === true ? null : 'asset_mismatch'

// What a wallet's own work costs at most: 3 to 10 thousand units of gas and the forwarding of one message.
const walletNanoTon = 15_000_000n

const canPayForItself: Check = ({ decoded: { request, isSponsored }, account }) =>
  isSponsored || account.balance >= request.message.nanoTon + walletNanoTon
    ? null
    : 'insufficient_ton_for_gas'

const checks: readonly Check[] = [
  canExecute,
  isOfTheWalletsVersion,
  takesSignatures,
  actsAlone,
  isForThisWallet,
  isSignedByTheOwner,
  isNext,
  movesTheAsset,
  canPayForItself,
]

/** The first rule that a payment breaks, given its wallet, or null. */
export const findFailedWalletCheck = (candidate: WalletCandidate): Reason | null => {
  for (const check of checks) {
    const reason = check(candidate)
    if (reason !== null) return reason
  }
  return null
}
