import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { InvalidVerdict } from '../../../schemes/scheme.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import { readSignature, type TransferSignature } from '../signatures/signature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import { planDeployingTransfer, planTransfer, type Transfer } from './call.js'
import { type Candidate, findFailedCheck, signedDomain } from './checks.js'
import type { RevertReason } from './explainRevert.js'
import { readExactProof } from './payload.js'
import { hashAuthorization } from './typedData.js'

/** A payment that breaks no rule, and the transfer that settles it if the chain accepts it. */
export interface Prepared {
  readonly candidate: Candidate
  readonly transfer: Transfer
}

/** What came of preparing a payment. */
export type Preparation = { readonly prepared: Prepared } | { readonly refused: InvalidVerdict }

/** Decides everything that can be decided without simulating: structure, rules, signature form, wallet. */
export type Prepare = (payment: Payment, options: PrepareOptions) => Promise<Preparation>

/** What a preparation is for. */
export interface PrepareOptions {
  /** How long, beyond now, the authorization must still live. */
  readonly marginSeconds: number
  /** Whether the same payment will be prepared again soon, so that the result is worth keeping. */
  readonly isKept: boolean
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
  // One request is verified and then settled: a signature by a key is the same both times, only the time passes.
  const plain = new WeakMap<Payment, Prepared>()

  const planFor = async (
    { authorization, token }: Candidate,
    signature: TransferSignature,
  ): Promise<Transfer | RevertReason> => {
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

  const readTime = (marginSeconds: number) => ({
    nowSeconds: BigInt(Math.floor(clock.now().getTime() / 1_000)),
    marginSeconds: BigInt(marginSeconds),
  })

  const prepareAnew = async (payment: Payment, marginSeconds: number): Promise<Preparation> => {
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

    const candidate: Candidate = {
      ...proof,
      payment,
      token: finding.token,
      ...readTime(marginSeconds),
    }
    const broken = findFailedCheck(candidate)
    if (broken !== null) return { refused: toRefusal(payer, { reason: broken }) }

    const digest = hashAuthorization(proof.authorization, {
      ...signedDomain(candidate),
      chainId: network.chainId,
      asset,
    })
    const signature = await readSignature(proof.signature, digest, payer)
    if (signature === null) {
      return { refused: toRefusal(payer, { reason: 'invalid_exact_evm_payload_signature' }) }
    }
    const transfer = await planFor(candidate, signature)
    return 'reason' in transfer
      ? { refused: toRefusal(payer, transfer) }
      : { prepared: { candidate, transfer } }
  }

  return async (payment, { marginSeconds, isKept }) => {
    const known = plain.get(payment)
    if (known === undefined) {
      const preparation = await prepareAnew(payment, marginSeconds)
      if (isKept && 'prepared' in preparation && preparation.prepared.transfer.isBatchable) {
        plain.set(payment, preparation.prepared)
      }
      return preparation
    }
    const candidate = { ...known.candidate, ...readTime(marginSeconds) }
    const broken = findFailedCheck(candidate)
    return broken === null
      ? { prepared: { ...known, candidate } }
      : { refused: toRefusal(candidate.authorization.from, { reason: broken }) }
  }
}

const isListed = (factories: readonly Hex[], factory: Hex): boolean =>
  factories.some((allowed) => isSameAddress(allowed, factory))

/** The verdict that goes with a revertReason. */
export const toRefusal = (payer: Hex | null, { reason, message }: RevertReason): InvalidVerdict =>
  message === undefined ? { isValid: false, payer, reason } : { isValid: false, payer, reason, message }
