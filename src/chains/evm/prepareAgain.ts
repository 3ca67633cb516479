import type { Clock } from '../../ports/clock.js'
import type { Payment } from '../../protocol/payment.js'
import type { Reason } from '../../protocol/reasons.js'
import { type Phase, type Preparer, toRefusal } from './paymentMethod.js'
import type { SettlementCall } from './transactions/settlementCall.js'

/** The present, and how long an authorization must still be valid, in seconds. */
interface Times {
  readonly nowSeconds: bigint
  readonly marginSeconds: bigint
}

interface Prepared<Candidate> {
  readonly candidate: Candidate
  readonly call: Pick<SettlementCall, 'payer'>
}

export const readTimes = (clock: Clock, { marginSeconds }: Pick<Phase, 'marginSeconds'>): Times => ({
  nowSeconds: BigInt(Math.floor(clock.now().getTime() / 1_000)),
  marginSeconds: BigInt(marginSeconds),
})

/** Repeats only the checks that need no chain access, unless a wallet contract decides, whose state may have changed. */
export const createPrepareAgain =
  <Candidate extends Times & { readonly payment: Payment }, P extends Prepared<Candidate>>({
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
    const failed = findFailedCheck({ ...candidate, ...readTimes(clock, phase) })
    return failed === null ? { prepared } : { refused: toRefusal(call.payer, { reason: failed }) }
  }
