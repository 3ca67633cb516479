import type { Hex } from 'viem'
import type { Clock } from '../../../ports/clock.js'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Check } from '../../../schemes/checks.js'
import { isSameAddress, readAddress } from '../abi/address.js'
import { type Phase, type Preparation, type Preparer, readOccasion, toRefusal } from '../paymentMethod.js'
import type { Rpc } from '../rpc/rpc.js'
import type { EvmNetworkSettings } from '../settings.js'
import {
  type DeployedSignature,
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

  const prepare = async (payment: Payment, phase: Phase): Promise<Preparation<Prepared<P>>> => {
    const reading = await readCandidate(payment, phase)
    if ('refused' in reading) return reading
    const { candidate, signature: found } = reading.prepared
    const { permit } = candidate
    const payer = permit.from
    const signature = await unwrapSignature(rpc, found, payer)
    if ('reason' in signature) return { refused: toRefusal(payer, signature) }
    const tokenPermit = await readSponsoring(candidate, chainId)
    if (tokenPermit !== null && 'reason' in tokenPermit) return { refused: toRefusal(payer, tokenPermit) }
    const call = createCall(candidate, { signature, tokenPermit })
    return { prepared: { candidate, signature, tokenPermit, call, authorizedAmount: permit.amount } }
  }

  return {
    prepare,
    isWalletAsked: ({ signature }) => signature.kind !== 'ecdsa',
    findFailedCheck: form.findFailedCheck,
  }
}

/** What the payer of one of x402's proxies signs. */
export interface SignedForm<P extends Permit> {
  read(proof: unknown): ProofReading<P>
  /** The EIP-712 digest that the payer signs. */
  hash(permit: P, separator: Hex): Hex
  findFailedCheck(candidate: Candidate<P>): Reason | null
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
  { read, hash, findFailedCheck }: SignedForm<P>,
) => {
  const separator = permit2Separator(chainId)
  return async (payment: Payment, phase: Phase): Promise<Preparation<SignedCandidate<P>>> => {
    const reading = read(payment.proof)
    if ('problem' in reading) {
      return { refused: toRefusal(null, { reason: 'invalid_payload_structure', message: reading.problem }) }
    }
    const { permit, signature: signed } = reading.proof
    const payer = permit.from
    const asset = readAddress(payment.requirements.asset)
    if (asset === null) return { refused: toRefusal(payer, { reason: 'unsupported_asset' }) }
    const finding = await findToken(asset, payment)
    if ('refusedAs' in finding) return { refused: toRefusal(payer, { reason: finding.refusedAs }) }

    const candidate = {
      permit,
      signature: signed,
      payment,
      token: finding.token,
      ...readOccasion(clock, phase),
    }
    const failed = findFailedCheck(candidate)
    if (failed !== null) return { refused: toRefusal(payer, { reason: failed }) }

    const signature = await readSignature(signed, hash(permit, separator), payer)
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

/** A rule that needs no chain access; null when it holds. */
export type Rule<P extends Permit = Permit> = Check<Candidate<P>, Reason>

/** Another spender could direct the funds to any recipient. */
export const permitsProxy =
  (proxy: Hex): Rule =>
  ({ permit }) =>
    isSameAddress(permit.spender, proxy) ? null : 'invalid_permit2_spender'

export const permitsToken: Rule = ({ permit, token }) =>
  isSameAddress(permit.token, token.address) ? null : 'permit2_token_mismatch'

export const paysRecipient: Rule = ({ permit, payment }) => {
  const payTo = readAddress(payment.requirements.payTo)
  return payTo !== null && isSameAddress(permit.to, payTo) ? null : 'invalid_permit2_recipient_mismatch'
}

/** A transfer to oneself only costs gas. */
export const paysSomeoneElse: Rule = ({ permit }) =>
  isSameAddress(permit.from, permit.to) ? 'self_payment' : null

export const hasStarted: Rule = ({ permit, nowSeconds }) =>
  permit.validAfter <= nowSeconds ? null : 'permit2_not_yet_valid'

export const hasNotExpired: Rule = ({ permit, nowSeconds, marginSeconds }) =>
  permit.deadline >= nowSeconds + marginSeconds ? null : 'permit2_deadline_expired'
