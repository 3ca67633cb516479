import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { namesOf, type Rule, runRules, type Trace } from '../../../protocol/rules/rules.js'
import { readSettleAmount } from '../../../schemes/settleAmount.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import type { Routers } from '../contracts/routers.js'
import { compareAmountOf, compareAsset, describeAge, noteToken, structureRules } from '../explanations.js'
import { type Phase, type Preparation, type Preparer, readOccasion, toRefusal } from '../paymentMethod.js'
import type { ContractPresence } from '../rpc/presence.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import {
  describeSigner,
  type PayerSignature,
  readSignature,
  unwrapSignature,
} from '../signatures/signature.js'
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

  const prepare = async (payment: Payment, phase: Phase, trace?: Trace): Promise<Preparation<Prepared>> => {
    const reading = await readCandidate(payment, phase, trace)
    if ('refused' in reading) return reading
    const { candidate, signature, amount } = reading.prepared
    const { owner: payer, value: authorizedAmount } = candidate.permit
    const unwrapped = await unwrapSignature(rpc, signature, payer)
    const isUndeployed = 'reason' in unwrapped
    trace?.note('wallet', isUndeployed ? unwrapped : null, { found: signature.kind })
    if (isUndeployed) return { refused: toRefusal(payer, unwrapped) }
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
  async (payment: Payment, phase: Phase, trace?: Trace): Promise<Preparation<SignedCandidate>> => {
    trace?.expect(preparedRules)
    const reading = readUptoProof(payment.proof)
    if ('problem' in reading) {
      const failure = { reason: 'invalid_payload_structure', message: reading.problem } as const
      trace?.note('payload_fields', failure)
      return { refused: toRefusal(null, failure) }
    }
    trace?.note('payload_fields', null)
    const { permit } = reading.proof
    const payer = permit.owner
    const refuse = (reason: RevertReason) => ({ refused: toRefusal(payer, reason) })
    const asset = readAddress(payment.requirements.asset)
    const payTo = readAddress(payment.requirements.payTo)
    if (asset === null || payTo === null) return refuse({ reason: 'unsupported_asset' })
    const finding = await findToken(asset, payment)
    if ('refusedAs' in finding) {
      trace?.note('asset', finding.refusedAs, compareAsset(payment))
      return refuse({ reason: finding.refusedAs })
    }
    if (trace !== undefined) noteToken(finding.token, payment, trace)
    // A simulation by the router cannot show what a token keeps of a transfer.
    const isUnlisted = !finding.token.isListed
    trace?.note('asset_listed', isUnlisted ? unlistedAsset : null)
    if (isUnlisted) return refuse(unlistedAsset)
    const problem = await findPermitProblem(asset)
    trace?.note('asset_permit', problem)
    if (problem !== null) return refuse(problem)
    const hasRouter = await routers.presence.ask()
    trace?.note('router', hasRouter ? null : 'router_not_deployed')
    if (!hasRouter) return refuse({ reason: 'router_not_deployed' })

    const occasion = readOccasion(clock, phase)
    const candidate: Candidate = {
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
      ...reading.proof,
    }
    const failed = findFailedCheck(candidate, trace)
    const isShared = failed === 'invalid_permit_spender' && isSameAddress(permit.spender, routers.shared)
    const broken = failed === null ? null : { reason: failed, ...(isShared ? { message: sharedRouter } : {}) }
    // With a trace amount and signature are judged as well.
    if (broken !== null && trace === undefined) return refuse(broken)
    const settled = readSettleAmount(payment, {
      authorizedMaximum: payment.requirements.amount,
      isForSettle: phase.isForSettle,
      isRequiredAmountCharge: false,
    })
    trace?.note('charge', 'reason' in settled ? settled : null, {
      path: 'settleAmount',
      found: payment.settleAmount ?? 'absent: the whole maximum is assumed',
      expected: `0, or ${payment.requirements.minAmount ?? 0n} to ${payment.requirements.amount}`,
    })
    if ('reason' in settled && trace === undefined) return refuse(settled)

    const domain = { chainId, asset, ...signedDomain(candidate) }
    const digest = hashTokenPermit(permit, domain)
    const signature = await readSignature(reading.proof.signature, digest, payer)
    if (trace !== undefined) {
      const comparison = await describeSigner(reading.proof.signature, { digest, payer, domain })
      trace.note('signature', signature === null ? 'invalid_permit_signature' : null, comparison)
    }
    if (broken !== null) return refuse(broken)
    if ('reason' in settled) return refuse(settled)
    if (signature === null) return refuse({ reason: 'invalid_permit_signature' })
    return { prepared: { candidate, signature, amount: settled.amount } }
  }

const sharedRouter =
  'The permit names the router for any recipient, which this facilitator does not settle through; sign for the router of payTo, which GET /v1/router names'
const unlistedAsset = {
  reason: 'unsupported_asset',
  message: 'The token is not configured here: upto by permit takes configured tokens only',
} as const

interface Candidate extends UptoProof {
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

const field = (name: string): string => `paymentPayload.payload.authorization.${name}`

const rules: readonly Rule<Candidate>[] = [
  {
    name: 'spender',
    // Another spender is not ours, or pays another recipient.
    check: ({ permit: { spender }, routers: { shared, ofRecipient, takesShared } }) =>
      isSameAddress(spender, ofRecipient) || (takesShared && isSameAddress(spender, shared))
        ? null
        : 'invalid_permit_spender',
    compare: ({ permit, routers }) => ({
      path: field('spender'),
      found: permit.spender,
      expected: `${routers.ofRecipient}, the router of payTo`,
    }),
  },
  {
    name: 'self_payment',
    // A transfer to oneself only costs gas.
    check: ({ permit, payTo }) => (isSameAddress(permit.owner, payTo) ? 'self_payment' : null),
    compare: ({ permit, payTo }) => ({
      path: field('owner'),
      found: permit.owner,
      expected: `another address than ${payTo}`,
    }),
  },
  {
    name: 'required_amount',
    check: ({ payment }) => (payment.requirements.amount > 0n ? null : 'invalid_payment_amount'),
    compare: compareAmountOf,
  },
  {
    name: 'authorized_amount',
    check: ({ permit, payment }) =>
      permit.value >= payment.requirements.amount ? null : 'permit_amount_mismatch',
    compare: ({ permit, payment }) => ({
      path: field('value'),
      found: permit.value,
      expected: `at least ${payment.requirements.amount}`,
    }),
  },
  {
    name: 'valid_before',
    check: ({ permit, nowSeconds, marginSeconds }) =>
      permit.deadline >= nowSeconds + marginSeconds ? null : 'permit_expired',
    compare: ({ permit, nowSeconds, marginSeconds }) => ({
      path: field('deadline'),
      found: describeAge(permit.deadline, nowSeconds),
      expected: `at least ${nowSeconds + marginSeconds}, which is now`,
    }),
  },
]

const preparedRules = [
  ...structureRules,
  'asset_listed',
  'asset_permit',
  'router',
  ...namesOf(rules),
  'charge',
  'signature',
  'wallet',
] as const

const findFailedCheck = (candidate: Candidate, trace?: Trace): Reason | null =>
  runRules(rules, candidate, trace)

/** Why a token takes no EIP-2612 permit; null if it does. Tokens are asked once. */
export type FindPermitProblem = (asset: Hex) => Promise<RevertReason | null>
