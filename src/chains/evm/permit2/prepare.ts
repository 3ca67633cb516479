import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import { type Rule as NamedRule, namesOf, runRules, type Trace } from '../../../protocol/rules/rules.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { compareAsset, describeAge, noteToken, structureRules } from '../explanations.js'
import { type Phase, type Preparation, type Preparer, readOccasion, toRefusal } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings } from '../settings.js'
import {
  type DeployedSignature,
  describeSigner,
  type PayerSignature,
  readSignature,
  unwrapSignature,
} from '../signatures/signature.js'
import type { FindToken, Token, TokenRegistry } from '../tokens/tokenRegistry.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import { readSponsoring, type TokenPermit } from './gasSponsoring.js'
import { type Permit, type PermitProof, type ProofReading, permit2Separator } from './payload.js'

/** Passed every check that needs no simulation. */
export interface Prepared<P extends Permit = Permit> extends PermitSignatures {
  readonly candidate: Candidate<P>
  readonly call: SettlementCall
  /** What the payer signed. */
  readonly authorizedAmount: bigint
}

interface PreparerDependencies {
  readonly network: EvmNetworkSettings
  readonly rpc: Rpc
  readonly tokens: TokenRegistry
  readonly clock: Clock
}

export interface PermitSignatures {
  readonly signature: DeployedSignature
  /** Submitted with the payment; null for none. */
  readonly tokenPermit: TokenPermit | null
}

/** The payments of x402's proxies differ in these. */
interface PermitForm<P extends Permit> extends SignedForm<P> {
  createCall(candidate: Candidate<P>, signed: PermitSignatures): SettlementCall
}

export const createPermitPreparer = <P extends Permit>(
  { network, rpc, tokens, clock }: PreparerDependencies,
  { createCall, ...form }: PermitForm<P>,
): Preparer<Prepared<P>> => {
  const { chainId } = network
  const readCandidate = createReadCandidate({ chainId, findToken: tokens.find, clock }, form)

  const prepare = async (
    payment: Payment,
    phase: Phase,
    trace?: Trace,
  ): Promise<Preparation<Prepared<P>>> => {
    const reading = await readCandidate(payment, phase, trace)
    trace?.expect(['wallet', 'token_permit'])
    if ('refused' in reading) return reading
    const { candidate, signature: found } = reading.prepared
    const { permit } = candidate
    const payer = permit.from
    const signature = await unwrapSignature(rpc, found, payer)
    const isUndeployed = 'reason' in signature
    trace?.note('wallet', isUndeployed ? signature : null, { found: found.kind })
    if (isUndeployed) return { refused: toRefusal(payer, signature) }
    const tokenPermit = await readSponsoring(candidate, chainId)
    const isMalformed = tokenPermit !== null && 'reason' in tokenPermit
    trace?.note('token_permit', isMalformed ? tokenPermit : null)
    if (isMalformed) return { refused: toRefusal(payer, tokenPermit) }
    const call = createCall(candidate, { signature, tokenPermit })
    return { prepared: { candidate, signature, tokenPermit, call, authorizedAmount: permit.amount } }
  }

  return {
    prepare,
    isWalletAsked: ({ signature }) => signature.kind !== 'ecdsa',
    findFailedCheck: (candidate) => runRules(form.rules, candidate),
  }
}

/** What the payer of one of x402's proxies signs. */
export interface SignedForm<P extends Permit> {
  read(proof: unknown): ProofReading<P>
  /** The EIP-712 digest that the payer signs. */
  hash(permit: P, separator: Hex): Hex
  readonly rules: readonly Rule<P>[]
}

interface SignedCandidate<P extends Permit> {
  readonly candidate: Candidate<P>
  readonly signature: PayerSignature
}

/** Checks what needs no chain access but the token's metadata: structure, rules, the signature of a key. */
export const createReadCandidate = <P extends Permit>(
  {
    chainId,
    findToken,
    clock,
  }: { readonly chainId: number; readonly findToken: FindToken; readonly clock: Pick<Clock, 'now'> },
  { read, hash, rules }: SignedForm<P>,
) => {
  const separator = permit2Separator(chainId)
  const names = [...structureRules, ...namesOf(rules), 'signature'] as const
  return async (payment: Payment, phase: Phase, trace?: Trace): Promise<Preparation<SignedCandidate<P>>> => {
    trace?.expect(names)
    const reading = read(payment.proof)
    if ('problem' in reading) {
      const failure = { reason: 'invalid_payload_structure', message: reading.problem } as const
      trace?.note('payload_fields', failure)
      return { refused: toRefusal(null, failure) }
    }
    trace?.note('payload_fields', null)
    const { permit, signature: signed } = reading.proof
    const payer = permit.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await findToken(asset, payment)
    if ('refusedAs' in finding) {
      trace?.note('asset', finding.refusedAs, compareAsset(payment))
      return { refused: toRefusal(payer, { reason: finding.refusedAs }) }
    }
    if (trace !== undefined) noteToken(finding.token, payment, trace)

    const candidate = {
      permit,
      signature: signed,
      payment,
      token: finding.token,
      ...readOccasion(clock, phase),
    }
    const failed = runRules(rules, candidate, trace)
    // With a trace the signature is judged as well.
    if (failed !== null && trace === undefined) return { refused: toRefusal(payer, { reason: failed }) }

    const digest = hash(permit, separator)
    const signature = await readSignature(signed, digest, payer)
    if (trace !== undefined) {
      const broken = signature === null ? 'invalid_permit2_signature' : null
      trace.note('signature', broken, await describeSigner(signed, { digest, payer }))
    }
    if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }
    if (signature === null) return { refused: toRefusal(payer, { reason: 'invalid_permit2_signature' }) }
    return { prepared: { candidate, signature } }
  }
}

/** A payment by Permit2 with what its rules need. */
export interface Candidate<P extends Permit = Permit> extends PermitProof<P> {
  readonly payment: Payment
  readonly token: Token
  readonly nowSeconds: bigint
  readonly isForSettle: boolean
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

/** A rule that needs no chain access. */
export type Rule<P extends Permit = Permit> = NamedRule<Candidate<P>>

export const field = (name: string): string => `paymentPayload.payload.permit2Authorization.${name}`

/** Another spender could direct the funds to any recipient. */
export const permitsProxy = (proxy: Hex): Rule => ({
  name: 'spender',
  check: ({ permit }) => (isSameAddress(permit.spender, proxy) ? null : 'invalid_permit2_spender'),
  compare: ({ permit }) => ({ path: field('spender'), found: permit.spender, expected: proxy }),
})

export const permitsToken: Rule = {
  name: 'named_asset',
  check: ({ permit, token }) =>
    isSameAddress(permit.token, token.address) ? null : 'permit2_token_mismatch',
  compare: ({ permit, token }) => ({
    path: field('permitted.token'),
    found: permit.token,
    expected: token.address,
  }),
}

export const paysRecipient: Rule = {
  name: 'recipient',
  check: ({ permit, payment }) => {
    const payTo = readAddress(payment.requirements.payTo)
    return payTo !== null && isSameAddress(permit.to, payTo) ? null : 'invalid_permit2_recipient_mismatch'
  },
  compare: ({ permit, payment }) => ({
    path: field('witness.to'),
    found: permit.to,
    expected: payment.requirements.payTo,
  }),
}

/** A transfer to oneself only costs gas. */
export const paysSomeoneElse: Rule = {
  name: 'self_payment',
  check: ({ permit }) => (isSameAddress(permit.from, permit.to) ? 'self_payment' : null),
  compare: ({ permit }) => ({
    path: field('from'),
    found: permit.from,
    expected: `another address than ${permit.to}`,
  }),
}

export const hasStarted: Rule = {
  name: 'valid_after',
  check: ({ permit, nowSeconds }) => (permit.validAfter <= nowSeconds ? null : 'permit2_not_yet_valid'),
  compare: ({ permit, nowSeconds }) => ({
    path: field('witness.validAfter'),
    found: describeAge(permit.validAfter, nowSeconds),
    expected: `at most ${nowSeconds}, which is now`,
  }),
}

export const hasNotExpired: Rule = {
  name: 'valid_before',
  check: ({ permit, nowSeconds, marginSeconds }) =>
    permit.deadline >= nowSeconds + marginSeconds ? null : 'permit2_deadline_expired',
  compare: ({ permit, nowSeconds, marginSeconds }) => ({
    path: field('deadline'),
    found: describeAge(permit.deadline, nowSeconds),
    expected: `at least ${nowSeconds + marginSeconds}, which is now`,
  }),
}
