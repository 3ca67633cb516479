import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { withSignal } from '../../platform/deadline.js'
import type { Clock } from '../../ports/clock.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { Outcome, Scheme, ValidVerdict, Verdict } from '../../schemes/scheme.js'
import { formatAuthorizationId, readAddress, readExactProof } from './authorization.js'
import type { Candidate } from './checks.js'
import type { Diagnosis } from './diagnose.js'
import { type FeeOracle, highestGasPrice } from './fees.js'
import { spendGasBudget } from './gasBudget.js'
import { asHex } from './hex.js'
import { notSettling } from './notSettling.js'
import { createPrepare, type Prepared, refuse } from './prepare.js'
import type { ReceiptPolicy } from './receipts.js'
import type { ReceiptWatcher } from './receiptWatcher.js'
import { concludeReceipt, resolveSettlement } from './resolve.js'
import type { Rpc } from './rpc.js'
import type { EvmNetworkSettings, EvmSettings } from './settings.js'
import type { Signers } from './signers.js'
import { estimateTransfer, simulateTransfer } from './simulate.js'
import type { Submitter } from './submit.js'
import type { TokenBook } from './tokens.js'

/** What `exact` needs on one EVM network. */
export interface ExactParts {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenBook
  readonly signers: Signers
  readonly fees: FeeOracle
  readonly submitter: Submitter
  readonly receipts: ReceiptWatcher
  readonly limiter: RateLimiter
  readonly clock: Clock
  /** Whether an account can pay for the next settlement; false for all while the network is not open. */
  readonly canPay: (address: Hex) => boolean
}

/** `exact` by EIP-3009 on one EVM network. */
export const createExactScheme = (parts: ExactParts): Scheme => {
  const { family, network, rpc, signers, fees, submitter, receipts, limiter, clock } = parts
  const prepare = createPrepare(parts)

  const policyFor = (value: bigint): ReceiptPolicy => ({
    confirmations: network.confirmations,
    isCrossChecked: value >= family.crossCheckAmount,
  })

  /** Our account for a payment. While there is none, nothing can be said of how the chain would take it. */
  const senderFor = ({ candidate }: Prepared): PrivateKeyAccount => {
    const sender = signers.pick(candidate.authorization.nonce, parts.canPay)
    if (sender !== null) return sender
    throw notSettling(network.network)
  }

  const simulate = async (prepared: Prepared): Promise<Diagnosis | null> => {
    const sender = senderFor(prepared).address
    return await simulateTransfer(rpc, prepared, { sender, fees: await fees.read() })
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

    verify: async (payment, signal): Promise<Verdict> => {
      const preparation = await withSignal(prepare(payment, 0), signal)
      if ('refused' in preparation) return preparation.refused
      const { candidate } = preparation.prepared
      const diagnosis = await withSignal(simulate(preparation.prepared), signal)
      return diagnosis === null ? toVerdict(candidate) : refuse(candidate.authorization.from, diagnosis)
    },

    settle: async (payment, recorder, { waitUntil }): Promise<Outcome> => {
      const preparation = await prepare(payment, family.expiryMarginSeconds)
      if ('refused' in preparation) return { state: 'failed', reason: preparation.refused.reason }
      const { prepared } = preparation
      const { authorization, token } = prepared.candidate
      const account = senderFor(prepared)
      const price = await fees.read()
      const estimate = await estimateTransfer(rpc, prepared, { sender: account.address, fees: price })
      if ('reason' in estimate) return { state: 'failed', reason: estimate.reason }
      const { gas } = estimate
      await spendGasBudget(limiter, network, gas * highestGasPrice(price))

      const { transfer } = prepared
      const signed = await submitter.submit({ account, transfer, gas, fees: price }, recorder)
      const transaction = asHex(signed.transaction)
      const policy = policyFor(authorization.value)
      const receipt = await receipts.wait(transaction, policy, waitUntil)
      if (receipt === null) return { state: 'pending', transaction }
      const question = {
        nonce: authorization.nonce,
        expected: { ...authorization, asset: token.address },
        since: clock.now(),
      }
      try {
        return await concludeReceipt(rpc, receipt, question, policy)
      } catch {
        // A node that fails now leaves the question to the reconciler.
        return { state: 'pending', transaction }
      }
    },

    resolve: (settlement, signal) =>
      withSignal(resolveSettlement(rpc, settlement, policyFor(settlement.amount), clock.now()), signal),
  }
}

// The latest instant that a Date can hold; authorizations may be valid for longer than that.
const latestInstantMs = 8_640_000_000_000_000n

const toDate = (seconds: bigint): Date => {
  const instantMs = seconds * 1_000n
  return new Date(Number(instantMs < latestInstantMs ? instantMs : latestInstantMs))
}
