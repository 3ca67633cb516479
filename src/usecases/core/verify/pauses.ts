import { AppError } from '../../../errors.js'
import type { Holds } from '../../../ports/holds.js'
import type { FindPause, PausablePayment, Pause, PauseTarget } from '../../../ports/operatorPauses.js'
import type { Payment } from '../../../protocol/payment.js'
import { findPublicProof } from '../../../schemes/publicProof.js'
import type { Scheme, VerifyOptions } from '../../../schemes/scheme.js'
import { describeHolding } from './holdFunds.js'

const retryAfterSeconds = 30

/** The error of every new payment that a pause covers. */
export const pausedError = ({ target, reason }: Pick<Pause, 'target' | 'reason'>): AppError =>
  new AppError('SERVICE_UNAVAILABLE', `${describeTarget(target)} paused by the operator: ${reason}`, {
    operationalCode: 'SVC-4001',
    retryAfterSeconds,
    isDeliberate: true,
  })

const describeTarget = (target: PauseTarget): string => {
  switch (target.kind) {
    case 'network':
      return `New payments on ${target.network} are`
    case 'scheme':
      return `New payments by ${target.scheme} on ${target.network} are`
    case 'recipient':
      return 'New payments to this recipient are'
    case 'account':
      return 'New payments of this project are'
  }
}

/** Keeps new payments out while they are paused. */
export interface PauseGate {
  /** The requirements are not copied: it is asked for each payment. */
  find(requirements: Required<Omit<PausablePayment, 'caller'>>, caller: string): Pause | null
  /** Throws `pausedError` unless the payment was promised or made before the pause. */
  requireBegun(pause: Pause, payment: Payment, attempt: BegunAttempt): Promise<void>
}

export const noPauses = { find: () => null, requireBegun: async () => undefined } satisfies PauseGate

interface BegunAttempt {
  readonly scheme: Scheme
  /** Account id, or `anonymous`. */
  readonly caller: string
  readonly options: VerifyOptions
}

/**
 * A payment has begun when the caller's verification holds its funds, when it moves what was collected before, or when the
 * client made the transfer itself before the pause. The payment does not remember the pause: recovery treats it like any other.
 */
export const createPauseGate = (find: FindPause, holds: Pick<Holds, 'covers'>): PauseGate => ({
  find: ({ network, scheme, payTo }, caller) => find({ network, scheme, payTo, caller }),
  requireBegun: async (pause, payment, { scheme, caller, options }) => {
    if (scheme.continues?.(payment) === true) return
    if (findPublicProof(scheme) === null) {
      if (await isHeld(holds, payment, { scheme, caller })) return
    } else {
      const untilMs = Math.min(
        pause.since.getTime(),
        options.paidBefore?.getTime() ?? Number.POSITIVE_INFINITY,
      )
      const paidBefore = new Date(untilMs)
      if ((await scheme.verify(payment, { ...options, paidBefore })).isValid) return
    }
    throw pausedError(pause)
  },
})

const isHeld = async (
  holds: Pick<Holds, 'covers'>,
  payment: Payment,
  { scheme, caller }: Pick<BegunAttempt, 'scheme' | 'caller'>,
): Promise<boolean> => {
  const authorizationId = scheme.identify(payment)
  if (authorizationId === null) return false
  const amount = payment.settleAmount ?? payment.requirements.amount
  // Anyone who has the authorization may settle it, but only to the recipient that it was verified for.
  return await holds.covers({
    ...describeHolding(payment, authorizationId, caller),
    amount,
    countsAnonymous: true,
  })
}
