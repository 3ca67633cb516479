import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { readSettleAmount } from '../../../schemes/settleAmount.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Routers } from '../contracts/routers.js'
import { type Phase, type Preparation, toRefusal } from '../paymentMethod.js'
import { readOccasion } from '../prepareAgain.js'
import type { ContractPresence } from '../rpc/presence.js'
import { type PayerSignature, readSignature } from '../signatures/signature.js'
import { type FindToken, signedDomain } from '../tokens/tokenRegistry.js'
import type { RevertReason } from '../transactions/settlementCall.js'
import { type Candidate, findFailedCheck } from './checks.js'
import { readUptoProof } from './payload.js'
import type { FindPermitProblem } from './permitSupport.js'
import { hashTokenPermit } from './typedData.js'

interface SignedCandidate {
  readonly candidate: Candidate
  readonly signature: PayerSignature
  /** What settlement moves. */
  readonly amount: bigint
}

export type ReadCandidate = (payment: Payment, phase: Phase) => Promise<Preparation<SignedCandidate>>

/** Everything that needs no chain access but facts of the contracts: structure, rules, the signature of a key. */
export const createReadCandidate =
  ({
    chainId,
    findToken,
    findPermitProblem,
    routers,
    takesSharedRouterPermits,
    clock,
  }: {
    readonly chainId: number
    readonly findToken: FindToken
    readonly findPermitProblem: FindPermitProblem
    readonly routers: Pick<Routers, 'shared' | 'findFor'> & {
      readonly presence: Pick<ContractPresence, 'ask'>
    }
    readonly takesSharedRouterPermits: boolean
    readonly clock: Pick<Clock, 'now'>
  }): ReadCandidate =>
  async (payment, phase) => {
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
    const finding = await findToken(asset, payment)
    if ('refusedAs' in finding) return refuse({ reason: finding.refusedAs })
    // A simulation by the router cannot show what a token keeps of a transfer.
    if (!finding.token.isListed) return refuse({ reason: 'unsupported_asset', message: unlisted })
    const problem = await findPermitProblem(asset)
    if (problem !== null) return refuse(problem)
    if (!(await routers.presence.ask())) return refuse({ reason: 'router_not_deployed' })

    const occasion = readOccasion(clock, phase)
    const candidate: Candidate = {
      ...reading.proof,
      payment,
      token: finding.token,
      payTo,
      routers: {
        shared: routers.shared,
        ofRecipient: routers.findFor(payTo),
        takesShared: takesSharedRouterPermits || phase.isAdmitted === true,
      },
      nowSeconds: occasion.nowSeconds,
      marginSeconds: occasion.marginSeconds,
    }
    const failed = findFailedCheck(candidate)
    if (failed !== null) {
      const isShared = failed === 'invalid_permit_spender' && isSameAddress(permit.spender, routers.shared)
      return refuse({ reason: failed, ...(isShared ? { message: sharedRouter } : {}) })
    }
    const settled = readSettleAmount(payment, {
      authorizedMaximum: payment.requirements.amount,
      isForSettle: phase.isForSettle,
      isRequiredAmountCharge: false,
    })
    if ('reason' in settled) return refuse(settled)

    const digest = hashTokenPermit(permit, { ...signedDomain(candidate), chainId: chainId, asset })
    const signature = await readSignature(reading.proof.signature, digest, payer)
    if (signature === null) return refuse({ reason: 'invalid_permit_signature' })
    return { prepared: { candidate, signature, amount: settled.amount } }
  }

const sharedRouter =
  'The permit names the router for any recipient, which this facilitator does not settle through; sign for the router of payTo, which GET /v1/router names'
const unlisted = 'The token is not configured here: upto by permit takes configured tokens only'
