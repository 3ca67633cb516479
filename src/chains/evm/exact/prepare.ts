import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { isSameAddress } from '../abi/address.js'
import { type Phase, type Preparation, type Preparer, toRefusal } from '../paymentMethod.js'
import { createPrepareAgain } from '../prepareAgain.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import type { PayerSignature } from '../signatures/signature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { createSettlementCall, planDeployingTransfer, planTransfer, type TransferPlan } from './call.js'
import { type Candidate, findFailedCheck } from './checks.js'
import { createReadCandidate } from './readCandidate.js'

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
  const { chainId } = network
  const readCandidate = createReadCandidate({ chainId, findToken: tokens.find, clock })

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
    const reading = await readCandidate(payment, phase)
    if ('refused' in reading) return reading
    const { candidate, signature } = reading.prepared
    const payer = candidate.authorization.from
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
