import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import { type Comparison, namesOf, type Rule, runRules, type Trace } from '../../../protocol/rules/rules.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { compareAmountOf, compareAsset, describeAge, noteToken, structureRules } from '../explanations.js'
import { type Phase, type Preparation, type Preparer, readOccasion, toRefusal } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings, EvmSettings } from '../settings.js'
import { describeSigner, type PayerSignature, readSignature } from '../signatures/signature.js'
import { type FindToken, signedDomain, type Token, type TokenRegistry } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { createSettlementCall, planDeployingTransfer, planTransfer, type TransferPlan } from './call.js'
import { type ExactProof, hashAuthorization, readExactProof } from './payload.js'

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

  const prepare = async (payment: Payment, phase: Phase, trace?: Trace): Promise<Preparation<Prepared>> => {
    const reading = await readCandidate(payment, phase, trace)
    if ('refused' in reading) return reading
    const { candidate, signature } = reading.prepared
    const payer = candidate.authorization.from
    const plan = await planFor(candidate, signature)
    const isRefused = 'reason' in plan
    trace?.note('wallet', isRefused ? plan : null, { found: signature.kind })
    if (isRefused) return { refused: toRefusal(payer, plan) }
    return { prepared: { candidate, call: createSettlementCall(callDependencies, candidate, plan) } }
  }

  return {
    prepare,
    isWalletAsked: ({ call }) => call.batchedBy === null,
    findFailedCheck,
  }
}

const isListed = (factories: readonly Hex[], factory: Hex): boolean =>
  factories.some((allowed) => isSameAddress(allowed, factory))

interface SignedCandidate {
  readonly candidate: Candidate
  readonly signature: PayerSignature
}

/** Checks what needs no chain access but the token's metadata: structure, rules, the signature of a key. */
export const createReadCandidate =
  ({
    chainId,
    findToken,
    clock,
  }: {
    readonly chainId: number
    readonly findToken: FindToken
    readonly clock: Pick<Clock, 'now'>
  }) =>
  async (payment: Payment, phase: Phase, trace?: Trace): Promise<Preparation<SignedCandidate>> => {
    trace?.expect(preparedRules)
    const reading = readExactProof(payment.proof)
    if ('problem' in reading) {
      const failure = { reason: 'invalid_payload_structure', message: reading.problem } as const
      trace?.note('payload_fields', failure)
      return { refused: toRefusal(null, failure) }
    }
    trace?.note('payload_fields', null)
    const { proof } = reading
    const payer = proof.authorization.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await findToken(asset, payment)
    if ('refusedAs' in finding) {
      trace?.note('asset', finding.refusedAs, compareAsset(payment))
      return { refused: toRefusal(payer, { reason: finding.refusedAs }) }
    }
    if (trace !== undefined) noteToken(finding.token, payment, trace)

    // It is built field by field: object spread costs several µs, on every verification.
    const occasion = readOccasion(clock, phase)
    const candidate: Candidate = {
      authorization: proof.authorization,
      signature: proof.signature,
      payment,
      token: finding.token,
      nowSeconds: occasion.nowSeconds,
      marginSeconds: occasion.marginSeconds,
    }
    const failed = findFailedCheck(candidate, trace)
    // With a trace the signature is judged as well.
    if (failed !== null && trace === undefined) return { refused: toRefusal(payer, { reason: failed }) }

    const { name, version } = signedDomain(candidate)
    const domain = { name, version, chainId: chainId, asset }
    const digest = hashAuthorization(proof.authorization, domain)
    const signature = await readSignature(proof.signature, digest, payer)
    if (trace !== undefined) {
      const broken = signature === null ? 'invalid_exact_evm_payload_signature' : null
      trace.note('signature', broken, await describeSigner(proof.signature, { digest, payer, domain }))
    }
    if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }
    if (signature === null) {
      return { refused: toRefusal(payer, { reason: 'invalid_exact_evm_payload_signature' }) }
    }
    return { prepared: { candidate, signature } }
  }

interface Candidate extends ExactProof {
  readonly payment: Payment
  readonly token: Token
  readonly nowSeconds: bigint
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

/** A rule of the specification that needs no chain access; null when it holds. */
type Check = Rule<Candidate>['check']

const paysRecipient: Check = ({ authorization, payment }) => {
  const payTo = readAddress(payment.requirements.payTo)
  return payTo !== null && isSameAddress(authorization.to, payTo)
    ? null
    : 'invalid_exact_evm_payload_recipient_mismatch'
}

// A transfer to oneself only costs gas.
const paysSomeoneElse: Check = ({ authorization }) =>
  isSameAddress(authorization.from, authorization.to) ? 'self_payment' : null

const asksForSomething: Check = ({ payment }) =>
  payment.requirements.amount > 0n ? null : 'invalid_payment_amount'

const coversAmount: Check = ({ authorization, payment }) =>
  authorization.value > 0n && authorization.value >= payment.requirements.amount
    ? null
    : 'invalid_exact_evm_payload_authorization_value'

const hasStarted: Check = ({ authorization, nowSeconds }) =>
  authorization.validAfter <= nowSeconds ? null : 'invalid_exact_evm_payload_authorization_valid_after'

const hasNotExpired: Check = ({ authorization, nowSeconds, marginSeconds }) =>
  authorization.validBefore > nowSeconds + marginSeconds
    ? null
    : 'invalid_exact_evm_payload_authorization_valid_before'

const namesToken: Check = ({ payment, token }) => {
  const { name, version } = payment.requirements.extra
  if (token.domain === null) {
    return typeof name === 'string' && typeof version === 'string'
      ? null
      : 'invalid_exact_evm_missing_eip712_domain'
  }
  // Without a proven domain the simulation decides.
  if (!token.domain.isProven) return null
  if (name !== undefined && name !== token.domain.name) return 'invalid_exact_evm_token_name_mismatch'
  if (version !== undefined && version !== token.domain.version) {
    return 'invalid_exact_evm_token_version_mismatch'
  }
  return null
}

const compareDomain = ({ payment, token }: Candidate): Comparison => {
  const { name, version } = payment.requirements.extra
  return {
    path: 'paymentRequirements.extra',
    found: { name, version },
    expected:
      token.domain === null
        ? 'name and version of the domain that the token does not state'
        : `name ${JSON.stringify(token.domain.name)} and version ${JSON.stringify(token.domain.version)}`,
  }
}

const field = (name: string): string => `paymentPayload.payload.authorization.${name}`

const rules: readonly Rule<Candidate>[] = [
  {
    name: 'recipient',
    check: paysRecipient,
    compare: ({ authorization, payment }) => ({
      path: field('to'),
      found: authorization.to,
      expected: payment.requirements.payTo,
    }),
  },
  {
    name: 'self_payment',
    check: paysSomeoneElse,
    compare: ({ authorization }) => ({
      path: field('from'),
      found: authorization.from,
      expected: `another address than ${authorization.to}`,
    }),
  },
  { name: 'required_amount', check: asksForSomething, compare: compareAmountOf },
  {
    name: 'authorized_amount',
    check: coversAmount,
    compare: ({ authorization, payment }) => ({
      path: field('value'),
      found: authorization.value,
      expected: `at least ${payment.requirements.amount}`,
    }),
  },
  {
    name: 'valid_after',
    check: hasStarted,
    compare: ({ authorization, nowSeconds }) => ({
      path: field('validAfter'),
      found: describeAge(authorization.validAfter, nowSeconds),
      expected: `at most ${nowSeconds}, which is now`,
    }),
  },
  {
    name: 'valid_before',
    check: hasNotExpired,
    compare: ({ authorization, nowSeconds, marginSeconds }) => ({
      path: field('validBefore'),
      found: describeAge(authorization.validBefore, nowSeconds),
      expected: `more than ${nowSeconds + marginSeconds}, which is now`,
    }),
  },
  { name: 'token_domain', check: namesToken, compare: compareDomain },
]

const preparedRules = [...structureRules, ...namesOf(rules), 'signature', 'wallet'] as const

const findFailedCheck = (candidate: Candidate, trace?: Trace): Reason | null =>
  runRules(rules, candidate, trace)
