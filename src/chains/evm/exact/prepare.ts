import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { type Phase, type Preparation, type Preparer, toRefusal } from '../paymentMethod.js'
import { createPrepareAgain, readOccasion } from '../prepareAgain.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import { type PayerSignature, readSignature } from '../signatures/signature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { createSettlementCall, planDeployingTransfer, planTransfer, type TransferPlan } from './call.js'
import { type Candidate, findFailedCheck, signedDomain } from './checks.js'
import { readExactProof } from './payload.js'
import { hashAuthorization } from './typedData.js'

/** Passed every check that needs no simulation. */
export interface Prepared {
  readonly candidate: Candidate
  readonly call: SettlementCall
}

export const createPreparer = (dependencies: {
  readonly family: EvmSettings
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly clock: Clock
}): Preparer<Prepared> => {
  const { family, network, rpc, tokens, clock } = dependencies
  const callDependencies = { rpc, network: network.network }

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

  const prepare = async (payment: Payment, phase: Phase): Promise<Preparation<Prepared>> => {
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
    const occasion = readOccasion(clock, phase)
    const candidate: Candidate = {
      authorization: proof.authorization,
      signature: proof.signature,
      payment,
      token: finding.token,
      nowSeconds: occasion.nowSeconds,
      marginSeconds: occasion.marginSeconds,
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
    return { prepared: { candidate, call: createSettlementCall(callDependencies, candidate, plan) } }
  }

  return {
    prepare,
    prepareAgain: createPrepareAgain({
      clock,
      prepare,
      isWalletAsked: ({ call }) => call.batchedBy === null,
      findFailedCheck,
    }),
  }
}

const isListed = (factories: readonly Hex[], factory: Hex): boolean =>
  factories.some((allowed) => isSameAddress(allowed, factory))
