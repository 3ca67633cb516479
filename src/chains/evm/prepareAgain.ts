import type { Clock } from '../../ports/clock.js'
import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import { type Phase, type Preparer, toRefusal } from './paymentMethod.js'
import type { SettlementCall } from './transactions/settlementCall.js'

/** When and for what a payment is checked; times in seconds. */
interface Occasion {
  readonly nowSeconds: bigint
  readonly isForSettle: boolean
  /** Minimum remaining validity. */
  readonly marginSeconds: bigint
}

interface Prepared<Candidate> {
  readonly candidate: Candidate
  readonly call: Pick<SettlementCall, 'payer'>
}

export const readOccasion = (clock: Pick<Clock, 'now'>, { isForSettle, marginSeconds }: Phase): Occasion => ({
  nowSeconds: BigInt(Math.floor(clock.now().getTime() / 1_000)),
  isForSettle,
  marginSeconds: BigInt(marginSeconds),
})

/** Repeats only the checks that need no chain access, unless a wallet contract decides, whose state may have changed. */
export const createPrepareAgain =
  <
    Candidate extends Pick<Occasion, 'nowSeconds' | 'marginSeconds'> & { readonly payment: Payment },
    P extends Prepared<Candidate>,
  >({
    clock,
    prepare,
    isWalletAsked,
    findFailedCheck,
  }: Pick<Preparer<P>, 'prepare'> & {
    readonly clock: Clock
    isWalletAsked(prepared: P): boolean
    findFailedCheck(candidate: Candidate): Reason | null
  }): Preparer<P>['prepareAgain'] =>
  async (prepared, phase) => {
    const { candidate, call } = prepared
    if (isWalletAsked(prepared)) return await prepare(candidate.payment, phase)
    const failed = findFailedCheck({ ...candidate, ...readOccasion(clock, phase) })
    return failed === null ? { prepared } : { refused: toRefusal(call.payer, { reason: failed }) }
  }
