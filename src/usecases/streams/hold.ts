import { deadlineSignal, withSignal } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import type { Holds } from '../../ports/holds.js'
import type { Logger } from '../../ports/logger.js'
import type { QuotaClaim } from '../../ports/quotas.js'
import type { Requester } from '../../ports/rateLimiter.js'
import type { Stream } from '../../ports/streamStore.js'
import type { Payment } from '../../protocol/payment.js'
import { describeReason, findOperationalCode, type Reason } from '../../protocol/reasons.js'
import type { ChannelStreams, OpenedChannel } from '../../schemes/channelStreams.js'
import type { Authorized, Refusal } from '../../schemes/scheme.js'
import type { HoldAuthorization, HoldRefusal } from '../core/verify/holdFunds.js'

/** Gives the payer's funds back. Never throws: a hold that stays ends by itself. */
export type ReleaseHold = (stream: Pick<Stream, 'id' | 'caller' | 'authorizationId'>) => Promise<void>

export const createReleaseHold =
  (holds: Pick<Holds, 'release'>, logger: Logger): ReleaseHold =>
  async ({ id, caller: account, authorizationId }) => {
    try {
      await holds.release({ authorizationId, purpose: streamNameOf(id) })
    } catch (error) {
      logger.warn({ streamId: id, account, error }, 'stream.release_failed')
    }
  }

/** Names a stream as the purpose of its hold, and as the request that its settlement answers. */
export const streamNameOf = (id: string): string => `stream:${id}`

export interface StreamHold {
  readonly id: string
  /** Null: the payload is unreadable, so that nothing is held. */
  readonly authorizationId: string | null
  readonly payment: Payment
  readonly caller: string
  readonly quota: QuotaClaim | null
  readonly requester: Requester | undefined
  readonly isAwaited: () => boolean
  readonly findEnd: (authorized: Authorized) => Date
  readonly isNew: boolean
}

export const refuse = (reason: Reason, message: string = describeReason(reason)): AppError => {
  const operationalCode = findOperationalCode(reason)
  return new AppError('PAYMENT_REFUSED', message, {
    reason,
    ...(operationalCode === null ? {} : { operationalCode }),
  })
}

export interface HoldDependencies {
  readonly holdAuthorization: HoldAuthorization
  readonly releaseHold: ReleaseHold
  /** It bounds the verification and the hold together. */
  readonly deadlineMs: number
}

/** The account holds the authorization for a stream that is not open, yet or any more. The refusal is not final. */
export class HeldForStreamError extends AppError {
  constructor() {
    const message =
      'The account holds this authorization for a stream that is being opened or has ended; retry'
    super('SERVICE_UNAVAILABLE', message, { retryAfterSeconds: 10 })
  }
}

/** Throws PAYMENT_REFUSED and `HeldForStreamError`; what a new stream held is given back then. */
export type Hold = (opening: StreamHold) => Promise<Authorized>

export const createHold =
  ({ holdAuthorization, releaseHold, deadlineMs }: HoldDependencies): Hold =>
  async ({ id, authorizationId, payment, caller, quota, requester, isAwaited, findEnd, isNew }) => {
    const deadline = deadlineSignal(deadlineMs)
    const held = holdAuthorization({
      payment,
      caller,
      quota,
      requester,
      purpose: streamNameOf(id),
      findEnd,
      isAwaited: () => isAwaited() && !deadline.aborted,
      isNew,
    })
    // A stream without a key is never returned to the same request: there is nothing to wait for.
    const checkOwnStream = (verdict: Authorized | HoldRefusal) => {
      const isOwn = !verdict.isValid && verdict.takenBy === 'stream' && caller !== 'anonymous'
      if (isOwn) throw new HeldForStreamError()
      return verdict
    }
    // Also what is held after the deadline.
    const release = () =>
      authorizationId === null ? undefined : releaseHold({ id, caller, authorizationId })
    try {
      return await getAccepted<Authorized>(withSignal(held.then(checkOwnStream), deadline))
    } catch (error) {
      if (isNew) void held.then(release, release)
      throw error
    }
  }

/** Throws PAYMENT_REFUSED and VERIFICATION_FAILED. */
const getAccepted = async <Accepted extends { readonly isValid: true }>(
  verifying: Promise<Accepted | Refusal>,
): Promise<Accepted> => {
  try {
    const verdict = await verifying
    if (verdict.isValid) return verdict
    throw refuse(verdict.reason, verdict.message)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('VERIFICATION_FAILED', 'The payment could not be verified; retry', {
      cause: error,
      operationalCode: 'SVC-4001',
    })
  }
}

/** Holds nothing: the deposit is in the channel. Throws PAYMENT_REFUSED. */
export type OpenChannel = (
  opening: Pick<StreamHold, 'payment' | 'caller' | 'requester' | 'isAwaited'> & {
    readonly statedCharge: bigint
  },
  channels: ChannelStreams,
) => Promise<OpenedChannel>

export const createOpenChannel =
  (deadlineMs: number): OpenChannel =>
  async ({ payment, caller, requester, isAwaited, statedCharge }, channels) => {
    // The token of a stream without a key is shown once, and with it the receiver's money would be lost.
    if (caller === 'anonymous') {
      throw new AppError('UNAUTHORIZED', 'A stream over a channel needs an API key')
    }
    const deadline = deadlineSignal(deadlineMs)
    const options = { isAwaited: () => isAwaited() && !deadline.aborted, caller, requester, statedCharge }
    return await getAccepted<OpenedChannel>(withSignal(channels.open(payment, options), deadline))
  }
