import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Trace } from '../../../protocol/rules/rules.js'
import type { Authorized } from '../../../schemes/scheme.js'
import { readAddress } from '../abi/address.js'
import { compareAsset, noteToken } from '../explanations.js'
import {
  type CreateScheme,
  type Phase,
  type Preparation,
  type readOccasion,
  toRefusal,
} from '../paymentMethod.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { RevertReason, SettlementCall } from '../transactions/settlementCall.js'
import { type ChannelProof, readChannelProof } from './payload.js'

/* What the payloads of a channel have in common, before they are simulated. */

export type SchemeDependencies = Parameters<CreateScheme>[0]

/** The sandbox has them without a chain. */
export interface ChannelDependencies
  extends Pick<SchemeDependencies, 'rpc' | 'contractReader' | 'custody' | 'channelLedger'> {
  readonly family: Pick<SchemeDependencies['family'], 'smartWalletFactories' | 'deploysSmartWallets'>
  readonly network: Pick<SchemeDependencies['network'], 'network' | 'chainId' | 'confirmations' | 'tokens'>
  readonly tokens: Pick<SchemeDependencies['tokens'], 'find'>
  readonly clock: Pick<SchemeDependencies['clock'], 'now'>
}

export type Occasion = ReturnType<typeof readOccasion>

/** A call of the settlement that passed every check but the simulation. */
export interface PreparedChannelCall {
  readonly candidate: Occasion & {
    readonly payment: Payment
    readonly token: Pick<Token, 'address'>
    /** Repeats the rules that need no chain, at another time. */
    recheck(occasion: Occasion): Reason | null
  }
  readonly call: SettlementCall
  readonly details: Authorized['details']
  /** Whether a wallet contract decides. */
  readonly isWalletAsked: boolean
  readonly authorizedAmount: bigint
  readonly received: bigint
  readonly snapshot?: Authorized['snapshot']
  readonly isReached?: true
  readonly commit?: () => Promise<RevertReason | null>
}

export type Prepare = (
  payment: Payment,
  phase: Phase,
  trace?: Trace,
) => Promise<Preparation<PreparedChannelCall>>

type ProofOf<Type extends ChannelProof['type']> = Extract<ChannelProof, { readonly type: Type }>

const payloadReasons = {
  deposit: 'invalid_batch_settlement_evm_deposit_payload',
  voucher: 'invalid_batch_settlement_evm_voucher_payload',
  refund: 'invalid_batch_settlement_evm_refund_payload',
  claim: 'invalid_batch_settlement_evm_claim_payload',
  settle: 'invalid_batch_settlement_evm_settle_payload',
} as const satisfies Readonly<Record<ChannelProof['type'], Reason>>

/** Reads the proof, and finds its token: one that the operator has not listed may credit less than it says. */
export const readListed = async <Type extends ChannelProof['type']>(
  { tokens }: Pick<ChannelDependencies, 'tokens'>,
  payment: Payment,
  types: readonly Type[],
  trace: Trace | undefined,
): Promise<Preparation<{ readonly proof: ProofOf<Type>; readonly token: Token }>> => {
  const refuse = (failure: RevertReason) => ({ refused: toRefusal(null, failure) })
  const reading = readChannelProof(payment.proof)
  const isWanted = (proof: ChannelProof): proof is ProofOf<Type> => types.some((type) => type === proof.type)
  const isOther = 'proof' in reading && !isWanted(reading.proof)
  if ('problem' in reading || isOther || !isWanted(reading.proof)) {
    const malformed = 'problem' in reading ? reading : { type: null, problem: otherType }
    const failure = {
      reason:
        malformed.type === null
          ? 'invalid_batch_settlement_evm_payload_type'
          : payloadReasons[malformed.type],
      message: malformed.problem,
    } as const
    trace?.note('payload_fields', failure)
    return refuse(failure)
  }
  const { proof } = reading
  // A shop that settles before it delivers must not take them, which anyone can repeat, for a payment.
  if ((proof.type === 'claim' || proof.type === 'settle') && payment.requirements.amount > 0n) {
    const failure = { reason: payloadReasons[proof.type], message: pricedMessage } as const
    trace?.note('payload_fields', failure)
    return refuse(failure)
  }
  trace?.note('payload_fields', null)
  const asset = readAddress(payment.requirements.asset)
  const finding = asset === null ? { refusedAs: 'unsupported_asset' as const } : await tokens.find(asset)
  if ('refusedAs' in finding || !finding.token.isListed) {
    const failure = { reason: 'refusedAs' in finding ? finding.refusedAs : 'unsupported_asset' } as const
    trace?.note('asset', failure, compareAsset(payment))
    return refuse(failure)
  }
  if (trace !== undefined) noteToken(finding.token, payment, trace)
  return { prepared: { proof, token: finding.token } }
}

const pricedMessage = 'paymentRequirements.amount: must be 0, because claims and sweeps pay for no delivery'
const otherType =
  'payload.type: /verify takes `deposit`, `voucher` and `refund`; /settle takes `deposit`, `claim`, `settle` and a completed `refund`'
