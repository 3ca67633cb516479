import { getAddress, type Hex } from 'viem'
import { AppError } from '../../errors.js'
import { withSignal } from '../../platform/deadline.js'
import type { Clock } from '../../ports/clock.js'
import type { RateLimiter } from '../../ports/rateLimiter.js'
import type { Payment } from '../../protocol/payment.js'
import type { InvalidVerdict, Outcome, Scheme, ValidVerdict, Verdict } from '../../schemes/scheme.js'
import { formatAuthorizationId, readAddress, readExactProof } from './authorization.js'
import { type Candidate, findBrokenRule, signedDomain } from './checks.js'
import { type Diagnosis, diagnoseFailure } from './diagnose.js'
import { readAuthorizationFacts, simulateCredit } from './facts.js'
import { type FeeOracle, highestGasPrice } from './fees.js'
import { findReceipt, type ReceiptPolicy, waitForReceipt } from './receipts.js'
import { concludeReceipt, resolveSettlement } from './resolve.js'
import type { CallRequest, Rpc } from './rpc.js'
import type { EvmNetworkSettings, EvmSettings } from './settings.js'
import { hashAuthorization, readSignature, type TransferSignature } from './signature.js'
import type { Signers } from './signers.js'
import { asHex, type Submitter } from './submit.js'
import type { TokenBook } from './tokens.js'
import { planDeployingTransfer, planTransfer, type Transfer } from './transfer.js'

/** What `exact` needs on one EVM network. */
export interface ExactParts {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenBook
  readonly signers: Signers
  readonly fees: FeeOracle
  readonly submitter: Submitter
  readonly limiter: RateLimiter
  readonly clock: Clock
  /** Whether an account can pay for the next settlement; false for all while the network is not open. */
  readonly canPay: (address: Hex) => boolean
}

/** A payment that passed every rule, and the transfer that the chain would accept. */
interface Prepared {
  readonly candidate: Candidate
  readonly transfer: Transfer
}

type Preparation = { readonly prepared: Prepared } | { readonly refused: InvalidVerdict }

const hourMs = 3_600_000
const weiPerGwei = 1_000_000_000n

/** `exact` by EIP-3009 on one EVM network. */
export const createExactScheme = (parts: ExactParts): Scheme => {
  const { family, network, rpc, tokens, signers, fees, submitter, limiter, clock } = parts

  const policyFor = (value: bigint): ReceiptPolicy => ({
    confirmations: network.confirmations,
    isCrossChecked: value >= family.crossCheckAmount,
  })

  /** Everything that is decided without simulating: structure, rules, signature form, wallet. */
  const prepare = async (payment: Payment, marginSeconds: number): Promise<Preparation> => {
    const reading = readExactProof(payment.proof)
    if ('problem' in reading) {
      return { refused: refuse(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { proof } = reading
    const payer = proof.authorization.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: refuse(payer, { reason: 'unsupported_asset' }) }
    const finding = await tokens.find(asset)
    if ('refusedAs' in finding) return { refused: refuse(payer, { reason: finding.refusedAs }) }

    const candidate: Candidate = {
      ...proof,
      payment,
      token: finding.token,
      nowSeconds: BigInt(Math.floor(clock.now().getTime() / 1_000)),
      marginSeconds: BigInt(marginSeconds),
    }
    const broken = findBrokenRule(candidate)
    if (broken !== null) return { refused: refuse(payer, { reason: broken }) }

    const digest = hashAuthorization(proof.authorization, signedDomain(candidate), network.chainId, asset)
    const signature = await readSignature(proof.signature, digest, payer)
    if (signature === null) {
      return { refused: refuse(payer, { reason: 'invalid_exact_evm_payload_signature' }) }
    }
    const transfer = await planFor(candidate, signature)
    return 'reason' in transfer ? { refused: refuse(payer, transfer) } : { prepared: { candidate, transfer } }
  }

  const planFor = async (
    { authorization, token }: Candidate,
    signature: TransferSignature,
  ): Promise<Transfer | Diagnosis> => {
    if (signature.kind !== 'counterfactual') return planTransfer(token.address, authorization, signature)
    if ((await rpc.getCode(authorization.from)) !== '0x') {
      return planTransfer(token.address, authorization, { kind: 'contract', bytes: signature.bytes })
    }
    if (!family.deploysSmartWallets) return { reason: 'invalid_exact_evm_payload_undeployed_smart_wallet' }
    if (
      !family.smartWalletFactories.some((allowed) => getAddress(allowed) === getAddress(signature.factory))
    ) {
      return { reason: 'eip6492_factory_not_allowed' }
    }
    return planDeployingTransfer(token.address, authorization, signature)
  }

  /** Asks the chain whether the very transfer that settle will send would succeed. */
  const simulate = async ({ candidate, transfer }: Prepared): Promise<Diagnosis | null> => {
    const { authorization, token } = candidate
    const call = await describeCall(authorization.nonce, transfer)
    const [answer, facts, credit] = await Promise.all([
      rpc.call({ ...call, gas: transfer.gasCap }),
      readAuthorizationFacts(rpc, token.address, authorization),
      token.isListed || transfer.deploysWallet
        ? authorization.value
        : simulateCredit(rpc, token.address, authorization.to, call),
    ])
    if (!answer.succeeds) {
      const diagnosis = diagnoseFailure(answer, facts, authorization, transfer)
      if (diagnosis.reason !== 'invalid_exact_evm_payload_authorization_valid_after') return diagnosis
      // By our clock it has begun: a chain that mines only on demand simulates with its last block's time.
      const retry = await rpc.call({ ...call, gas: transfer.gasCap, at: 'pending' })
      if (!retry.succeeds) return diagnoseFailure(retry, facts, authorization, transfer)
    }
    // Some tokens do not revert on a used authorization or a missing balance: their word alone is not enough.
    if (facts.isUsed === null) return { reason: 'invalid_exact_evm_eip3009_not_supported' }
    if (facts.isUsed) return { reason: 'invalid_exact_evm_nonce_already_used' }
    if (facts.balance === null || facts.balance < authorization.value) return { reason: 'insufficient_funds' }
    if (credit !== null && credit !== authorization.value) {
      return { reason: 'invalid_exact_evm_transfer_event_mismatch' }
    }
    return null
  }

  /** The call as the sender will send it; its price too, since a wallet may be laxer towards one that pays none. */
  const describeCall = async (nonce: Hex, { to, data }: Transfer): Promise<CallRequest> => {
    const sender = signers.pick(nonce, parts.canPay)
    if (sender === null) return { to, data }
    return { from: sender.address, to, data, gasPrice: highestGasPrice(await fees.read()) }
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
      const { candidate, transfer } = preparation.prepared
      const { authorization, token } = candidate
      const account = signers.pick(authorization.nonce, parts.canPay)
      if (account === null) {
        throw new AppError('SERVICE_UNAVAILABLE', `${network.network} is not settling at the moment`, {
          operationalCode: 'SVC-4001',
          retryAfterSeconds: 10,
        })
      }

      const price = await fees.read()
      const estimate = await rpc.estimateGas({
        from: account.address,
        to: transfer.to,
        data: transfer.data,
        gasPrice: highestGasPrice(price),
      })
      if (!estimate.succeeds) {
        const facts = await readAuthorizationFacts(rpc, token.address, authorization)
        return { state: 'failed', reason: diagnoseFailure(estimate, facts, authorization, transfer).reason }
      }
      if (estimate.value > transfer.gasCap) return { state: 'failed', reason: 'gas_limit_exceeded' }
      const gas = min((estimate.value * 12n) / 10n, transfer.gasCap)
      await spendGasBudget(limiter, network, gas * highestGasPrice(price))

      const signed = await submitter.submit({ account, transfer, gas, fees: price }, recorder)
      const transaction = asHex(signed.transaction)
      const receipt = await waitForReceipt(
        () => findReceipt(rpc, transaction, policyFor(authorization.value)),
        network.pollIntervalMs,
        waitUntil,
      )
      if (receipt === null) return { state: 'pending', transaction }
      const question = {
        nonce: authorization.nonce,
        expected: { ...authorization, asset: token.address },
        since: clock.now(),
      }
      try {
        return await concludeReceipt(rpc, receipt, question, policyFor(authorization.value))
      } catch {
        // A node that fails now leaves the question to the reconciler.
        return { state: 'pending', transaction }
      }
    },

    resolve: (settlement, signal) =>
      withSignal(resolveSettlement(rpc, settlement, policyFor(settlement.amount)), signal),
  }
}

const refuse = (payer: Hex | null, { reason, message }: Diagnosis): InvalidVerdict =>
  message === undefined ? { isValid: false, payer, reason } : { isValid: false, payer, reason, message }

const min = (left: bigint, right: bigint): bigint => (left < right ? left : right)

// The latest instant that a Date can hold; authorizations may be valid for longer than that.
const latestInstantMs = 8_640_000_000_000_000n

const toDate = (seconds: bigint): Date => new Date(Number(min(seconds * 1_000n, latestInstantMs)))

/** Holds what one network may cost per hour; strangers decide how often we settle, not how much we spend. */
const spendGasBudget = async (
  limiter: RateLimiter,
  network: EvmNetworkSettings,
  wei: bigint,
): Promise<void> => {
  const answer = await limiter.take([
    {
      key: `gas:${network.network}`,
      limit: network.gasBudgetGweiPerHour,
      windowMs: hourMs,
      cost: Number(wei / weiPerGwei) + 1,
    },
  ])
  if (answer.isAllowed) return
  throw new AppError('SERVICE_UNAVAILABLE', `The hourly gas budget of ${network.network} is spent`, {
    operationalCode: 'SVC-3002',
    retryAfterSeconds: 60,
  })
}
