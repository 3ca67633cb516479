import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Routers } from '../contracts/routers.js'
import { type Phase, type Preparation, type Preparer, toRefusal } from '../paymentMethod.js'
import { createPrepareAgain } from '../prepareAgain.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import { unwrapSignature } from '../signatures/signature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import { createUptoCall } from './call.js'
import { type Candidate, findFailedCheck } from './checks.js'
import type { FindPermitProblem } from './permitSupport.js'
import { createReadCandidate } from './readCandidate.js'

/** Passed every check that needs no simulation. */
export interface Prepared {
  readonly candidate: Candidate
  readonly call: SettlementCall
  readonly authorizedAmount: bigint
  readonly maximum: bigint
}

export const createPreparer = (dependencies: {
  readonly family: Pick<EvmSettings, 'takesSharedRouterPermits'>
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly clock: Clock
  readonly routers: Routers
  readonly findPermitProblem: FindPermitProblem
}): Preparer<Prepared> => {
  const { family, network, rpc, tokens, clock } = dependencies
  const readCandidate = createReadCandidate({
    ...dependencies,
    takesSharedRouterPermits: family.takesSharedRouterPermits,
    chainId: network.chainId,
    findToken: tokens.find,
  })

  const prepare = async (payment: Payment, phase: Phase): Promise<Preparation<Prepared>> => {
    const reading = await readCandidate(payment, phase)
    if ('refused' in reading) return reading
    const { candidate, signature, amount } = reading.prepared
    const { owner: payer, value: authorizedAmount } = candidate.permit
    const unwrapped = await unwrapSignature(rpc, signature, payer)
    if ('reason' in unwrapped) return { refused: toRefusal(payer, unwrapped) }
    const call = createUptoCall({ rpc, network: network.network }, candidate, {
      amount,
      signature: unwrapped,
    })
    return { prepared: { candidate, call, authorizedAmount, maximum: payment.requirements.amount } }
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
