import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { readSettleAmount } from '../../../schemes/settleAmount.js'
import { readAddress } from '../abi/address.js'
import { signedDomain } from '../exact/checks.js'
import { type Phase, type Preparation, type Preparer, toRefusal } from '../paymentMethod.js'
import { createPrepareAgain, readOccasion } from '../prepareAgain.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings } from '../settings.js'
import { readSignature } from '../signatures/signature.js'
import { unwrapSignature } from '../signatures/unwrapSignature.js'
import type { TokenRegistry } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { createUptoCall } from './call.js'
import { type Candidate, findFailedCheck } from './checks.js'
import { readUptoProof } from './payload.js'
import type { FindPermitProblem } from './permitSupport.js'
import type { Routers } from './routers.js'
import { hashTokenPermit } from './typedData.js'

/** Passed every check that needs no simulation. */
export interface Prepared {
  readonly candidate: Candidate
  readonly call: SettlementCall
  readonly authorizedAmount: bigint
}

export const createPreparer = (dependencies: {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly clock: Clock
  readonly routers: Routers
  readonly findPermitProblem: FindPermitProblem
}): Preparer<Prepared> => {
  const { network, rpc, tokens, clock, routers, findPermitProblem } = dependencies

  const prepare = async (payment: Payment, phase: Phase): Promise<Preparation<Prepared>> => {
    const reading = readUptoProof(payment.proof)
    if ('problem' in reading) {
      return { refused: toRefusal(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { permit } = reading.proof
    const payer = permit.owner
    const refuse = (reason: RevertReason) => ({ refused: toRefusal(payer, reason) })
    const asset = readAddress(payment.requirements.asset)
    const payTo = readAddress(payment.requirements.payTo)
    if (asset === null || payTo === null) return refuse({ reason: 'unsupported_asset' })
    const finding = await tokens.find(asset)
    if ('refusedAs' in finding) return refuse({ reason: finding.refusedAs })
    // A simulation by the router cannot show what a token keeps of a transfer.
    if (!finding.token.isListed) return refuse({ reason: 'unsupported_asset', message: unlisted })
    const problem = await findPermitProblem(asset)
    if (problem !== null) return refuse(problem)
    if (!(await routers.isDeployed())) return refuse({ reason: 'router_not_deployed' })

    const occasion = readOccasion(clock, phase)
    const candidate: Candidate = {
      ...reading.proof,
      payment,
      token: finding.token,
      payTo,
      routers: { shared: routers.shared, ofRecipient: routers.findFor(payTo) },
      nowSeconds: occasion.nowSeconds,
      marginSeconds: occasion.marginSeconds,
    }
    const failed = findFailedCheck(candidate)
    if (failed !== null) return refuse({ reason: failed })
    const authorizedAmount = permit.value
    const settled = readSettleAmount(payment, {
      authorizedMaximum: payment.requirements.amount,
      isForSettle: phase.isForSettle,
      isRequiredAmountCharge: false,
    })
    if ('reason' in settled) return refuse(settled)

    const digest = hashTokenPermit(permit, { ...signedDomain(candidate), chainId: network.chainId, asset })
    const signature = await readSignature(reading.proof.signature, digest, payer)
    if (signature === null) return refuse({ reason: 'invalid_permit_signature' })
    const unwrapped = await unwrapSignature(rpc, signature, payer)
    if ('reason' in unwrapped) return refuse(unwrapped)
    const call = createUptoCall({ rpc, network: network.network }, candidate, {
      amount: settled.amount,
      signature: unwrapped,
    })
    return { prepared: { candidate, call, authorizedAmount } }
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

const unlisted = 'The token is not configured here: upto by permit takes configured tokens only'
