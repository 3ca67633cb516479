import type { Address } from '@ton/core'
import type { Reason } from '../../../protocol/reasons.js'
import { namesOf, type Rule, runRules, type Trace } from '../../../protocol/rules/rules.js'
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

type WalletCheck = Rule<WalletCandidate>['check']

type StateCheck = Rule<StateCandidate>['check']

const matchesWalletVersion: WalletCheck = ({ decoded, wallet }) =>
  decoded.request.layout === wallet.layout ? null : 'invalid_exact_tvm_payload_w5_actions'

// A client-paid message needs a deployed wallet, and must not carry a state init.
const isDeployedAsRequired: StateCheck = ({ decoded: { isSponsored, message }, wallet }) => {
  if (!isSponsored && !wallet.isDeployed) return 'wallet_not_deployed'
  return !isSponsored && message.init !== null ? 'invalid_boc_format' : null
}

const acceptsSignatures: WalletCheck = ({ wallet }) =>
  wallet.isSignatureAllowed ? null : 'invalid_exact_tvm_payload_signature_mode_mismatch'

// An extension could move the jettons while our message is in flight, and the bounced TON stays with the
// payer.
const hasNoExtensions: WalletCheck = ({ decoded: { isSponsored }, wallet }) =>
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

const hasWalletId: WalletCheck = ({ decoded: { request }, wallet, otherGlobalIds }) =>
  request.walletId === wallet.walletId && !isForOtherNetwork(request, otherGlobalIds)
    ? null
    : 'invalid_exact_tvm_payload_wallet_id_mismatch'

const isSignedByOwner: WalletCheck = ({ decoded: { request }, wallet }) =>
  isValidEd25519Signature({
    publicKey: wallet.publicKey,
    message: request.signedHash,
    signature: request.signature,
  })
    ? null
    : 'message_verification_failed'

const hasNextSeqno: StateCheck = ({ decoded: { request }, wallet }) => {
  if (request.seqno < wallet.seqno) return 'seqno_already_used'
  return request.seqno > wallet.seqno ? 'seqno_too_high' : null
}

const movesAsset: StateCheck = ({ decoded: { request }, jettonWallet }) =>
  jettonWallet?.equals(request.message.destination) === true ? null : 'asset_mismatch'

// Upper bound of the wallet's own fees: up to 10,000 gas and forwarding one message.
const walletNanoTon = 15_000_000n

const canPayGas: StateCheck = ({ decoded: { request, isSponsored }, account }) =>
  isSponsored || account.balance >= request.message.nanoTon + walletNanoTon
    ? null
    : 'insufficient_ton_for_gas'

const walletRules: readonly Rule<WalletCandidate>[] = [
  { name: 'wallet_version', check: matchesWalletVersion },
  { name: 'wallet_signatures', check: acceptsSignatures },
  { name: 'wallet_extensions', check: hasNoExtensions },
  {
    name: 'wallet_id',
    check: hasWalletId,
    compare: ({ decoded: { request }, wallet }) => ({
      found: request.walletId,
      expected: `${wallet.walletId}`,
    }),
  },
  { name: 'signature', check: isSignedByOwner },
]

/** First rule that the wallet breaks, whatever happened on the chain since; null if none. */
export const findFailedWalletCheck = (candidate: WalletCandidate, trace?: Trace): Reason | null =>
  runRules(walletRules, candidate, trace)

const rules: readonly Rule<StateCandidate>[] = [
  { name: 'wallet_deployed', check: isDeployedAsRequired },
  ...walletRules,
  {
    name: 'sequence',
    check: hasNextSeqno,
    compare: ({ decoded: { request }, wallet }) => ({ found: request.seqno, expected: `${wallet.seqno}` }),
  },
  {
    name: 'token_wallet',
    check: movesAsset,
    compare: ({ decoded: { request }, jettonWallet }) => ({
      found: request.message.destination.toRawString(),
      expected: jettonWallet?.toRawString() ?? 'a wallet that the jetton master names',
    }),
  },
  {
    name: 'fee_balance',
    check: canPayGas,
    compare: ({ decoded: { request, isSponsored }, account }) => ({
      found: `${account.balance} nanoton`,
      expected: isSponsored
        ? 'any: this facilitator pays'
        : `at least ${request.message.nanoTon + walletNanoTon}`,
    }),
  },
]

export const walletStateRules = namesOf(rules)

/** First rule that the wallet's chain state breaks, or null. */
export const findFailedStateCheck = (candidate: StateCandidate, trace?: Trace): Reason | null =>
  runRules(rules, candidate, trace)
