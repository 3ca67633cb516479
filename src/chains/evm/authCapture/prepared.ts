import type { Hex } from 'viem'
import type { Payment } from '../../../protocol/payment.js'
import type { Reason } from '../../../protocol/reasons.js'
import type { Trace } from '../../../protocol/rules/rules.js'
import {
  type CreateScheme,
  type Phase,
  type Preparation,
  type readOccasion,
  toRefusal,
} from '../paymentMethod.js'
import type { Token } from '../tokens/tokenRegistry.js'
import type { SettlementCall } from '../transactions/settlementCall.js'
import type { JudgedCall } from './judge.js'

/* What a collection and a request about one have in common, before they are simulated. */

export type AuthCaptureDependencies = Parameters<CreateScheme>[0] & {
  /** Keys of ours that sign what becomes of a hold, for the account that is bound to it. */
  readonly holdAuthorizers: readonly { readonly address: Hex }[]
}

type Occasion = ReturnType<typeof readOccasion>

/** A call of the escrow that passed every check but the simulation. */
export interface PreparedCapture {
  readonly candidate: Occasion & {
    readonly payment: Payment
    readonly token: Pick<Token, 'address'>
    /** Repeats the rules that need no chain, at another time. */
    recheck(occasion: Occasion): Reason | null
  }
  readonly call: SettlementCall
  readonly judged: JudgedCall
  /** Whether a wallet contract decides, of the payer or of the receiver's authorizer. */
  readonly isWalletAsked: boolean
  readonly authorizedAmount: bigint
  readonly received: bigint
  /** As in `PreparedCall`. */
  readonly isExempt?: boolean
}

export type Prepare = (payment: Payment, phase: Phase, trace?: Trace) => Promise<Preparation<PreparedCapture>>

/** The refusal names no payer, because the payload cannot be read. */
export const refusePayload = (problem: string, trace?: Trace) => {
  const failure = { reason: 'invalid_auth_capture_evm_payload_format', message: problem } as const
  trace?.note('payload_fields', failure)
  return { refused: toRefusal(null, failure) }
}
