import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { withSignal } from '../../../deadline.js'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Outcome, Scheme, ValidVerdict, Verdict, VerifyOptions } from '../../../schemes/scheme.js'
import { networkUnavailable } from '../../common/networkUnavailable.js'
import { readAddress } from '../abi/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { FeeOracle } from '../transactions/fees/fees.js'
import { getBlockStatus } from '../transactions/receipts/blockStatus.js'
import type { ReceiptPolicy } from '../transactions/receipts/findReceipt.js'
import type { ReceiptWatcher } from '../transactions/receipts/receiptWatcher.js'
import { concludeReceipt, resolveSettlement } from '../transactions/resolve.js'
import type { Signers } from '../transactions/signers.js'
import type { Simulator } from '../transactions/simulation/simulator.js'
import type { Submission, Submitter } from '../transactions/submit.js'
import type { Candidate } from './checks.js'
import type { RevertReason } from './explainRevert.js'
import { formatAuthorizationId, readExactProof } from './payload.js'
import { createPrepare, type Prepared, toRefusal } from './prepare.js'

/** What `exact` needs on one EVM network. */
export interface ExactDependencies {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly signers: Signers
  readonly fees: FeeOracle
  readonly simulator: Simulator
  readonly submitter: Submitter
  readonly receipts: ReceiptWatcher
  readonly clock: Clock
  /** Whether an account can pay for the next settlement; false for all while the network is not open. */
  readonly canPay: (address: Hex) => boolean
}

/** `exact` by EIP-3009 on one EVM network. */
export const createExactScheme = (dependencies: ExactDependencies): Scheme => {
  const { family, network, rpc, signers, fees, simulator, submitter, receipts, clock } = dependencies
  const prepare = createPrepare(dependencies)

  const policyFor = (value: bigint): ReceiptPolicy => ({
    confirmations: network.confirmations,
    isCrossChecked: value >= family.crossCheckAmount,
  })

  /** Our account for a payment. While there is none, nothing can be said of how the chain would take it. */
  const senderFor = ({ candidate }: Prepared): PrivateKeyAccount => {
    const sender = signers.pick(candidate.authorization.nonce, dependencies.canPay)
    if (sender !== null) return sender
    throw networkUnavailable(network.network)
  }

  const simulate = async (prepared: Prepared): Promise<RevertReason | null> => {
    const sender = senderFor(prepared).address
    return await simulator.simulate(prepared, { sender, fees: await fees.read() })
  }

  const judge = async (payment: Payment, { isAwaited, precedesSettle }: VerifyOptions): Promise<Verdict> => {
    const preparation = await prepare(payment, { marginSeconds: 0, isKept: precedesSettle })
    if ('refused' in preparation) return preparation.refused
    if (!isAwaited()) throw new Error('Nobody waits for the verdict any more')
    const { candidate } = preparation.prepared
    const revertReason = await simulate(preparation.prepared)
    return revertReason === null
      ? toVerdict(candidate)
      : toRefusal(candidate.authorization.from, revertReason)
  }

  const toVerdict = ({ authorization, token }: Candidate): ValidVerdict => ({
    isValid: true,
    payer: authorization.from,
    authorizationId: formatAuthorizationId({
      network: network.network,
      asset: token.address,
      from: authorization.from,
      nonce: authorization.nonce,
    }),
    amount: authorization.value,
    expiresAt: toDate(authorization.validBefore),
  })

  /** `spoiled`: mined in a batch without effect; nothing of it can move money any more. */
  const submitAndConclude = async (submission: Submission): Promise<Outcome | RevertedInBatch> => {
    const { authorization, token } = submission.prepared.candidate
    const submitted = await submitter.submit(submission)
    if ('reason' in submitted) return { state: 'failed', reason: submitted.reason }
    const { transaction, isShared, sender, nonce } = submitted
    const policy = policyFor(authorization.value)
    const receipt = await receipts.wait(transaction, policy, submission.waitUntil)
    if (receipt === null) return { state: 'pending', transaction }
    submitter.onMined(sender, nonce)
    const question = {
      nonce: authorization.nonce,
      expected: { ...authorization, asset: token.address },
      since: clock.now(),
    }
    const conclude = () => concludeReceipt(rpc, { receipt, isShared }, question, policy)
    try {
      const outcome = await conclude()
      const isSpoiled = isShared && outcome.state === 'failed' && outcome.reason === revertedInBatchReason
      return isSpoiled ? { state: 'spoiled', transaction, conclude } : outcome
    } catch {
      // A node that fails now leaves the question to the reconciler.
      return { state: 'pending', transaction }
    }
  }

  /** Its share of a batch failed, and the authorization is unused: by itself it succeeds, or we learn why not. */
  const settleAlone = async (submission: Submission, spoiled: RevertedInBatch): Promise<Outcome> => {
    const { transaction } = spoiled
    try {
      const second = await submitAndConclude({ ...submission, isUnbatched: true })
      if (second.state === 'spoiled') return { state: 'pending', transaction }
      if (second.state !== 'failed' || second.transaction !== undefined) return second
      // Refused before it was sent, perhaps because a stranger's transaction has paid it since.
      const outcome = await spoiled.conclude()
      const isUnused = outcome.state === 'failed' && outcome.reason === revertedInBatchReason
      return isUnused ? { ...second, transaction } : outcome
    } catch {
      // Perhaps it was recorded again, and only the answer was lost.
      return { state: 'pending', transaction }
    }
  }

  return {
    kind: { scheme: 'exact', network: network.network },
    signers: signers.addresses,

    identify: (payment) => {
      const reading = readExactProof(payment.proof)
      const asset = readAddress(payment.requirements.asset)
      if ('problem' in reading || asset === null) return null
      const { from, nonce } = reading.proof.authorization
      return formatAuthorizationId({ network: network.network, asset, from, nonce })
    },

    verify: judge,

    settle: async (payment, recorder, { waitUntil }): Promise<Outcome> => {
      const preparation = await prepare(payment, {
        marginSeconds: family.expiryMarginSeconds,
        isKept: false,
      })
      if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
      const { prepared } = preparation
      const submission = { prepared, recorder, waitUntil }
      const outcome = await submitAndConclude(submission)
      return outcome.state === 'spoiled' ? await settleAlone(submission, outcome) : outcome
    },

    resolve: (settlement, signal) =>
      withSignal(
        resolveSettlement(rpc, settlement, {
          ...policyFor(settlement.amount),
          finalityDepth: network.finalityDepth,
          now: clock.now(),
        }),
        signal,
      ),

    getBlockStatus: (block, signal) =>
      withSignal(getBlockStatus(rpc.endpoints, block, network.finalityDepth), signal),
  }
}

interface RevertedInBatch {
  readonly state: 'spoiled'
  readonly transaction: Hex
  /** Asks again what the chain says of the payment. */
  conclude(): Promise<Outcome>
}

// What is concluded of an authorization that is unused although its transaction was mined.
const revertedInBatchReason = 'invalid_exact_evm_transaction_failed'

// The latest instant that a Date can hold; authorizations may be valid for longer than that.
const latestInstantMs = 8_640_000_000_000_000n

const toDate = (seconds: bigint): Date => {
  const instantMs = seconds * 1_000n
  return new Date(Number(instantMs < latestInstantMs ? instantMs : latestInstantMs))
}
