import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { readAddress } from '../abi/address.js'
import { type Phase, type Preparation, type Preparer, toRefusal } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings } from '../settings.js'
import { type PayerSignature, readSignature } from '../signatures/signature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { createPermitCall, type PermitSignature } from './call.js'
import { type Candidate, findFailedCheck } from './checks.js'
import { readPermitProof } from './payload.js'
import { hashPermit, permit2Separator } from './typedData.js'

/** Passed every check that needs no simulation. */
export interface Prepared {
  readonly candidate: Candidate
  readonly signature: PermitSignature
  readonly call: SettlementCall
}

export const createPreparer = (dependencies: {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly clock: Clock
}): Preparer<Prepared> => {
  const { network, rpc, tokens, clock } = dependencies
  const callDependencies = { rpc, network: network.network }
  const separator = permit2Separator(network.chainId)

  const readSeconds = () => BigInt(Math.floor(clock.now().getTime() / 1_000))

  /** A wallet that is not deployed cannot have approved Permit2, so that nothing is ever deployed here. */
  const unwrap = async (signature: PayerSignature, payer: Hex): Promise<PermitSignature | RevertReason> => {
    if (signature.kind !== 'counterfactual') return signature
    return (await rpc.getCode(payer)) === '0x'
      ? { reason: 'invalid_exact_evm_payload_undeployed_smart_wallet' }
      : { kind: 'contract', bytes: signature.bytes }
  }

  const prepare = async (payment: Payment, phase: Phase): Promise<Preparation<Prepared>> => {
    const reading = readPermitProof(payment.proof)
    if ('problem' in reading) {
      return { refused: toRefusal(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { permit, signature: signed } = reading.proof
    const payer = permit.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await tokens.find(asset)
    if ('refusedAs' in finding) return { refused: toRefusal(payer, { reason: finding.refusedAs }) }

    const candidate: Candidate = {
      permit,
      signature: signed,
      payment,
      token: finding.token,
      nowSeconds: readSeconds(),
      marginSeconds: BigInt(phase.marginSeconds),
    }
    const failed = findFailedCheck(candidate)
    if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }

    const read = await readSignature(signed, hashPermit(permit, separator), payer)
    if (read === null) return { refused: toRefusal(payer, { reason: 'invalid_permit2_signature' }) }
    const signature = await unwrap(read, payer)
    if ('reason' in signature) return { refused: toRefusal(payer, signature) }
    const call = createPermitCall(callDependencies, candidate, signature)
    return { prepared: { candidate, signature, call } }
  }

  return {
    prepare,
    prepareAgain: async (prepared, phase) => {
      const { candidate, call, signature } = prepared
      if (signature.kind !== 'ecdsa') return await prepare(candidate.payment, phase)
      const failed = findFailedCheck({
        ...candidate,
        nowSeconds: readSeconds(),
        marginSeconds: BigInt(phase.marginSeconds),
      })
      return failed === null ? { prepared } : { refused: toRefusal(call.payer, { reason: failed }) }
    },
  }
}
