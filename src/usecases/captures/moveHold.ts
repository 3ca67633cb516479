import { AppError } from '../../errors.js'
import type {
  HeldPayment,
  HeldPayments,
  HeldState,
  HoldMove,
  NewMove,
  StoredMove,
} from '../../ports/heldPayments.js'
import type { Logger } from '../../ports/logger.js'
import type { Moved, MovedHold } from '../../protocol/heldPayments.js'
import type { Payment } from '../../protocol/payment.js'
import { describeReason, type Reason, readReason } from '../../protocol/reasons.js'
import type { SettleResult } from '../../protocol/results.js'
import type { HoldAgency } from '../../schemes/holdAgency.js'
import type { SchemeRegistry } from '../../schemes/registry.js'
import { fingerprintJson } from '../core/idempotency/fingerprint.js'
import type { SettleAuthorization } from '../core/settle/settleAuthorization.js'
import { findScheme } from '../core/verify/checkRequirements.js'
import { getAgency, type ObserveHold, readHeldState, viewDetails } from './observeHold.js'
import type { CaptureUseCases, MoveRequest } from './useCases.js'

interface MoveHoldDependencies {
  readonly store: Pick<HeldPayments, 'findMove' | 'saveMove'>
  readonly getOwn: (request: MoveRequest) => Promise<HeldPayment>
  readonly observe: ObserveHold
  readonly registry: SchemeRegistry
  readonly settleAuthorization: SettleAuthorization
  readonly readDeadlineMs?: number
  readonly logger: Logger
}

/** What one key moves of one hold. */
interface Attempt {
  readonly request: MoveRequest
  readonly held: HeldPayment
  readonly agency: HoldAgency
  readonly key: string
}

/**
 * The move is stored under its key before it is sent, with the balances that it starts from: a repeated request is the same
 * request for /settle, also after a crash, and finds its settlement. These balances never recur, so it can move nothing twice.
 */
export const createMoveHold = ({
  store,
  getOwn,
  observe,
  registry,
  settleAuthorization,
  readDeadlineMs,
  logger,
}: MoveHoldDependencies): CaptureUseCases['moveHold'] => {
  const readState = ({ agency, held }: Attempt): Promise<HeldState> =>
    readHeldState(agency, held, readDeadlineMs)

  const sign = async ({ agency, held }: Attempt, move: HoldMove): Promise<SignedMove> => {
    const payment = await agency.sign(held, move)
    if (payment === null) {
      throw new AppError('SERVICE_UNAVAILABLE', 'The key that this payment names is not configured any more')
    }
    const scheme = findScheme(registry, payment)
    const authorizationId = typeof scheme === 'string' ? null : scheme.identify(payment)
    if (authorizationId === null) throw new Error('A request of ours cannot be read')
    return { payment, authorizationId }
  }

  const settle = (
    { request, held, key }: Attempt,
    { move, fingerprint }: StoredMove,
    { payment, authorizationId }: SignedMove,
  ): Promise<SettleResult> => {
    const { accountId, quota, requester, requestId, onClaimed, isUrgent } = request
    // A hold is voided once: whichever request asks for it is answered the same success.
    const isShared = move.type === 'void'
    return settleAuthorization({
      payment,
      caller: accountId,
      quota,
      ...(requester === undefined ? {} : { requester }),
      ...(requestId === undefined ? {} : { requestId }),
      ...(isUrgent === undefined ? {} : { isUrgent }),
      ...(onClaimed === undefined ? {} : { onClaimed: () => onClaimed().then(() => null) }),
      fingerprint: isShared ? fingerprintJson({ void: authorizationId }) : fingerprint,
      consumer: isShared ? `hold:${held.id}` : `key:${accountId}:${key}`,
      isBodyBound: true,
    })
  }

  /** The move of the key; stored now if it has none. Throws PAYLOAD_MISMATCH, and PAYMENT_REFUSED before it is stored. */
  const findMove = async (attempt: Attempt, fingerprint: string): Promise<StoredMove> => {
    const { request, held, key } = attempt
    const { accountId, asked } = request
    const named = { accountId, key, part: 'request' } as const
    const earlier = await store.findMove(named)
    if (earlier !== null) return requireSame(earlier, fingerprint)
    const state = await readState(attempt)
    const move = planMove(asked, state)
    const { authorizationId } = await sign(attempt, move)
    const stored = { ...named, heldPaymentId: held.id, authorizationId, fingerprint, move }
    return requireSame(await store.saveMove(stored), fingerprint)
  }

  /** A capture that was made stands, whatever becomes of the void; a repeated request goes on with it. */
  const voidRemainder = async (attempt: Attempt, fingerprint: string): Promise<Moved | null> => {
    const { held, key, request } = attempt
    const move = { type: 'void' } as const
    try {
      const signed = await sign(attempt, move)
      const { authorizationId } = signed
      const stored: NewMove = {
        accountId: request.accountId,
        key,
        part: 'remainder',
        heldPaymentId: held.id,
        authorizationId,
        fingerprint,
        move,
      }
      const isAsked = (await store.findMove(stored)) !== null
      if (!isAsked && (await readState(attempt)).capturable === 0n) return null
      await store.saveMove(stored)
      const result = await settle(attempt, stored, signed)
      return describe(result, move) ?? describeUnsent(result)
    } catch (error) {
      logger.error({ ...nameHeld(held), error }, 'hold.void_failed')
      return {
        status: 'failed',
        transaction: '',
        errorMessage: 'The rest was not returned; send the same request again',
      }
    }
  }

  /** Null while it cannot be read: what was moved is known all the same. */
  const view = async ({ request, held }: Attempt): Promise<Pick<MovedHold, 'payment'>> => {
    try {
      // Another request may have seen a new status meanwhile.
      return { payment: viewDetails(await observe(await getOwn(request))) }
    } catch (error) {
      logger.warn({ ...nameHeld(held), error }, 'hold.unread')
      return {}
    }
  }

  return async (request) => {
    const held = await getOwn(request)
    const { asked, idempotencyKey } = request
    const attempt = {
      request,
      held,
      agency: getAgency(registry, held),
      key: idempotencyKey ?? `void ${held.id}`,
    }
    const fingerprint = fingerprintMove(request, held)
    const stored = await findMove(attempt, fingerprint)
    const result = await settle(attempt, stored, await sign(attempt, stored.move))
    const moved = describe(result, stored.move)
    if (moved === null) throw refuse(result, await readState(attempt).catch(() => null))
    const isVoiding = asked.type === 'capture' && asked.voidsRemainder && moved.status === 'confirmed'
    const voided = isVoiding ? await voidRemainder(attempt, fingerprint) : null
    return { ...moved, ...(voided === null ? {} : { void: voided }), ...(await view(attempt)) }
  }
}

interface SignedMove {
  readonly payment: Payment
  readonly authorizationId: string
}

const requireSame = (stored: StoredMove, fingerprint: string): StoredMove => {
  if (stored.fingerprint === fingerprint) return stored
  throw new AppError('PAYLOAD_MISMATCH', 'This Idempotency-Key was used with another payload')
}

const fingerprintMove = ({ asked, isAutomatic }: MoveRequest, { id }: HeldPayment): string =>
  fingerprintJson({ ...asked, id, ...textsOf(asked), ...(isAutomatic === undefined ? {} : { isAutomatic }) })

/** Canonical JSON has no bigint. */
const textsOf = (asked: MoveRequest['asked']) =>
  Object.fromEntries(
    Object.entries(asked).map(([name, value]) => [name, typeof value === 'bigint' ? `${value}` : value]),
  )

/** Throws PAYMENT_REFUSED for what the chain shows to be impossible now: it takes no key. */
const planMove = (asked: MoveRequest['asked'], state: HeldState): HoldMove => {
  const { isCollected, capturable, refundable } = state
  const refuseNow = (reason: Reason) => refuse({ errorReason: reason }, state)
  if (!isCollected) throw refuseNow('invalid_auth_capture_evm_unexpected_payment_state')
  switch (asked.type) {
    case 'void':
      return { type: 'void' }
    case 'refund': {
      const { amount } = asked
      if (amount > refundable) throw refuseNow('invalid_auth_capture_evm_refund_exceeds_capture')
      return { type: 'refund', amount, capturable, refundable }
    }
    case 'capture': {
      const { amount, fee, feeReceiver, voidsRemainder } = asked
      if (amount > capturable) throw refuseNow('invalid_auth_capture_evm_insufficient_authorization')
      return { type: 'capture', amount, capturable, refundable, fee, feeReceiver, voidsRemainder }
    }
  }
}

/** Nothing was sent for this request. `state` says what a next one starts from; null: the chain could not be read. */
const refuse = (
  { errorReason, errorMessage }: Pick<SettleResult, 'errorReason' | 'errorMessage'>,
  state: HeldState | null,
): AppError => {
  const reason = readReason(errorReason ?? null)
  const sentence = errorMessage ?? (reason === null ? 'The request was refused' : describeReason(reason))
  const now =
    state === null
      ? ''
      : state.isCollected
        ? `; ${state.capturable} can be captured and ${state.refundable} refunded now`
        : '; the chain does not show the hold now'
  return new AppError('PAYMENT_REFUSED', `${sentence}${now}`, reason === null ? {} : { reason })
}

/** Null where nothing was sent for the request. */
const describe = (result: SettleResult, move: HoldMove): Moved | null => {
  const { success, status, settlementId, transaction } = result
  if (!success && status !== 'pending' && status !== 'failed') return null
  return {
    status: success ? 'confirmed' : status === 'pending' ? 'pending' : 'failed',
    ...(move.type === 'void' ? {} : { amount: `${move.amount}` }),
    ...(settlementId === undefined ? {} : { settlementId }),
    transaction,
    ...errorOf(result),
  }
}

const describeUnsent = (result: SettleResult): Moved => ({
  status: 'failed',
  transaction: '',
  ...errorOf(result),
})

const errorOf = ({ errorReason, errorMessage, operationalCode }: SettleResult) => ({
  ...(errorReason === undefined ? {} : { errorReason }),
  ...(errorMessage === undefined ? {} : { errorMessage }),
  ...(operationalCode === undefined ? {} : { operationalCode }),
})

const nameHeld = ({ accountId, network, hash }: Pick<HeldPayment, 'accountId' | 'network' | 'hash'>) => ({
  account: accountId,
  network,
  paymentInfoHash: hash,
})
