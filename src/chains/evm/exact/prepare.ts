import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { InvalidVerdict } from '../../../schemes/scheme.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import { type PayerSignature, readSignature } from '../signatures/signature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { createSettlementCall, planDeployingTransfer, planTransfer, type TransferPlan } from './call.js'
import { type Candidate, findFailedCheck, signedDomain } from './checks.js'
import { readExactProof } from './payload.js'
import { hashAuthorization } from './typedData.js'

/** The call that settles a payment if the chain accepts it, or why the payment is refused. */
export type Preparation = { readonly call: SettlementCall } | { readonly refused: InvalidVerdict }

/** Decides everything that needs no simulation: structure, checks, signature form, wallet. */
export type Prepare = (payment: Payment, options: PrepareOptions) => Promise<Preparation>

/** What a preparation is for. */
export interface PrepareOptions {
  /** How much longer than now the authorization must be valid. */
  readonly marginSeconds: number
  /** Whether the same payment will be prepared again soon, so that the result is kept. */
  readonly isKept: boolean
}

interface Prepared {
  readonly candidate: Candidate
  readonly call: SettlementCall
}

/** Builds `prepare` for one network. */
export const createPrepare = (dependencies: {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly clock: Clock
}): Prepare => {
  const { family, network, rpc, tokens, clock } = dependencies
  const callDependencies = { rpc, network: network.network }
  // Settle follows verify: an ECDSA signature stays valid, only the time passes.
  const kept = new WeakMap<Payment, Prepared>()

  const planFor = async (
    { authorization, token }: Candidate,
    signature: PayerSignature,
  ): Promise<TransferPlan | RevertReason> => {
    if (signature.kind !== 'counterfactual') return planTransfer(token, authorization, signature)
    if ((await rpc.getCode(authorization.from)) !== '0x') {
      return planTransfer(token, authorization, { kind: 'contract', bytes: signature.bytes })
    }
    if (!family.deploysSmartWallets) return { reason: 'invalid_exact_evm_payload_undeployed_smart_wallet' }
    if (!isListed(family.smartWalletFactories, signature.factory)) {
      return { reason: 'eip6492_factory_not_allowed' }
    }
    return planDeployingTransfer(token.address, authorization, signature)
  }

  const readSeconds = () => BigInt(Math.floor(clock.now().getTime() / 1_000))

  const prepareAnew = async (
    payment: Payment,
    marginSeconds: number,
  ): Promise<Prepared | { readonly refused: InvalidVerdict }> => {
    const reading = readExactProof(payment.proof)
    if ('problem' in reading) {
      return { refused: toRefusal(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { proof } = reading
    const payer = proof.authorization.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await tokens.find(asset)
    if ('refusedAs' in finding) return { refused: toRefusal(payer, { reason: finding.refusedAs }) }

    // Field by field, here and below: object spread costs several µs, on every verification.
    const candidate: Candidate = {
      authorization: proof.authorization,
      signature: proof.signature,
      payment,
      token: finding.token,
      nowSeconds: readSeconds(),
      marginSeconds: BigInt(marginSeconds),
    }
    const failed = findFailedCheck(candidate)
    if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }

    const { name, version } = signedDomain(candidate)
    const domain = { name, version, chainId: network.chainId, asset }
    const digest = hashAuthorization(proof.authorization, domain)
    const signature = await readSignature(proof.signature, digest, payer)
    if (signature === null) {
      return { refused: toRefusal(payer, { reason: 'invalid_exact_evm_payload_signature' }) }
    }
    const plan = await planFor(candidate, signature)
    if ('reason' in plan) return { refused: toRefusal(payer, plan) }
    return { candidate, call: createSettlementCall(callDependencies, candidate, plan) }
  }

  return async (payment, { marginSeconds, isKept }) => {
    const known = kept.get(payment)
    if (known === undefined) {
      const prepared = await prepareAnew(payment, marginSeconds)
      if (isKept && 'call' in prepared && prepared.call.isBatchable) kept.set(payment, prepared)
      return prepared
    }
    const { call } = known
    const failed = findFailedCheck({
      ...known.candidate,
      nowSeconds: readSeconds(),
      marginSeconds: BigInt(marginSeconds),
    })
    return failed === null ? { call } : { refused: toRefusal(call.payer, { reason: failed }) }
  }
}

const isListed = (factories: readonly Hex[], factory: Hex): boolean =>
  factories.some((allowed) => isSameAddress(allowed, factory))

/** The verdict for a reason. */
export const toRefusal = (payer: Hex | null, { reason, message }: RevertReason): InvalidVerdict =>
  message === undefined ? { isValid: false, payer, reason } : { isValid: false, payer, reason, message }
