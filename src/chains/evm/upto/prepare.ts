import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { type Check, runChecks } from '../../../schemes/checks.js'
import { readSettleAmount } from '../../../schemes/settleAmount.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Routers } from '../contracts/routers.js'
import { type Phase, type Preparation, type Preparer, readOccasion, toRefusal } from '../paymentMethod.js'
import type { ContractPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import { type PayerSignature, readSignature, unwrapSignature } from '../signatures/signature.js'
import { type FindToken, signedDomain, type Token, type TokenRegistry } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { createUptoCall } from './call.js'
import { hashTokenPermit, readUptoProof, type UptoProof } from './payload.js'

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
  const { family, network, rpc, tokens } = dependencies
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
    isWalletAsked: ({ call }) => call.batchedBy === null,
    findFailedCheck,
  }
}

interface SignedCandidate {
  readonly candidate: Candidate
  readonly signature: PayerSignature
  /** What settlement moves. */
  readonly amount: bigint
}

/** Checks what needs no chain access but facts of the contracts: structure, rules, the signature of a key. */
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
  }) =>
  async (payment: Payment, phase: Phase): Promise<Preparation<SignedCandidate>> => {
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

export interface Candidate extends UptoProof {
  readonly payment: Payment
  readonly token: Token
  readonly payTo: Hex
  /** Addresses that the permit may name as its spender. */
  readonly routers: SpenderRouters
  readonly nowSeconds: bigint
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

interface SpenderRouters {
  readonly shared: Hex
  readonly ofRecipient: Hex
  /**
   * Whether a permit for the shared router is settled: anyone who has seen it can present it for another recipient, unless
   * it is held for this one.
   */
  readonly takesShared: boolean
}

/** A rule that needs no chain access; null when it holds. */
type Rule = Check<Candidate, Reason>

// Another spender is not ours, or pays another recipient.
const permitsRouter: Rule = ({ permit: { spender }, routers: { shared, ofRecipient, takesShared } }) =>
  isSameAddress(spender, ofRecipient) || (takesShared && isSameAddress(spender, shared))
    ? null
    : 'invalid_permit_spender'

// A transfer to oneself only costs gas.
const paysSomeoneElse: Rule = ({ permit, payTo }) =>
  isSameAddress(permit.owner, payTo) ? 'self_payment' : null

const asksForSomething: Rule = ({ payment }) =>
  payment.requirements.amount > 0n ? null : 'invalid_payment_amount'

const permitsMaximum: Rule = ({ permit, payment }) =>
  permit.value >= payment.requirements.amount ? null : 'permit_amount_mismatch'

const hasNotExpired: Rule = ({ permit, nowSeconds, marginSeconds }) =>
  permit.deadline >= nowSeconds + marginSeconds ? null : 'permit_expired'

const checks: readonly Rule[] = [
  permitsRouter,
  paysSomeoneElse,
  asksForSomething,
  permitsMaximum,
  hasNotExpired,
]

const findFailedCheck = (candidate: Candidate): Reason | null => runChecks(checks, candidate)

/** Why a token takes no EIP-2612 permit; null if it does. Tokens are asked once. */
export type FindPermitProblem = (asset: Hex) => Promise<RevertReason | null>
