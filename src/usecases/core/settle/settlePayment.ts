import { createHash, randomUUID } from 'node:crypto'
import {
  identifierKeys,
  type PaymentIdentifier,
  readPaymentIdentifier,
} from '../../../extensions/paymentIdentifier.js'
import type { IdempotencyStore, IdempotentRequest } from '../../../ports/idempotencyStore.js'
import type { Logger } from '../../../ports/logger.js'
import type { Payment } from '../../../protocol/payment.js'
import { findClaimedPayer, isRefused, readPayment } from '../../../protocol/readPayment.js'
import type { SettleResult } from '../../../protocol/results.js'
import { fingerprintRequest } from '../idempotency/fingerprint.js'
import { type BindingHooks, createSettleBound, createSettleOncePerKey } from '../idempotency/oncePerKey.js'
import { noPaymentExtensions, type PaymentExtensions } from '../paymentExtensions.js'
import type { CoreUseCases, SettleRequest, SettleResponse } from '../useCases.js'
import { refuseSettle } from './settleAnswers.js'
import type { SettleAuthorization } from './settleAuthorization.js'
import type { SettleAttempt } from './settlementContext.js'

interface SettlePaymentDependencies {
  readonly idempotency: IdempotencyStore
  readonly settleAuthorization: SettleAuthorization
  readonly extensions?: PaymentExtensions
  readonly logger: Logger
}

type Identity = Pick<SettleAttempt, 'fingerprint' | 'consumer' | 'isAwaited'>

const isAnonymous = ({ caller }: Pick<SettleRequest, 'caller'>): boolean => caller === 'anonymous'

/** Settles once per `Idempotency-Key`, and once per payment identifier. */
export const createSettlePayment = ({
  idempotency,
  settleAuthorization,
  extensions = noPaymentExtensions,
  logger,
}: SettlePaymentDependencies): CoreUseCases['settlePayment'] => {
  const settleOncePerKey = createSettleOncePerKey(idempotency, logger)
  const settleBound = createSettleBound(idempotency, logger)

  /** An unreadable payment is a result (HTTP 200), also under its Idempotency-Key. */
  const settle = async (
    request: SettleRequest,
    identity: Identity,
    keyed: Pick<IdempotentRequest, 'key' | 'fingerprint'> | null,
  ): Promise<SettleResponse> => {
    const { body, caller, requester, quota, requestId } = request
    const ofRequest = requestId === undefined ? {} : { requestId }
    const payment = readPayment(body, { isForSettle: true })
    if (isRefused(payment)) {
      const { callerNetwork, reason, message } = payment
      const payer = findClaimedPayer(body.paymentPayload.payload)
      return answer(refuseSettle(callerNetwork, { reason, message, payer }))
    }
    const refusal = extensions.findRefusal(payment)
    if (refusal !== null) {
      const { reason, message } = refusal
      const payer = findClaimedPayer(payment.proof)
      return answer(refuseSettle(payment.callerNetwork, { reason, message, payer }))
    }
    const identifier = readPaymentIdentifier(payment)
    const settleWith = async (hooks: BindingHooks): Promise<SettleResponse> => {
      const settleAs = async (settlesAs: Identity): Promise<SettleResult> => {
        const result = await settleAuthorization({
          payment,
          caller,
          ...(requester === undefined ? {} : { requester }),
          quota,
          ...ofRequest,
          ...settlesAs,
          ...hooks,
        })
        const settled = { payment, result, caller, ...ofRequest }
        return await extensions.describe(requester === undefined ? settled : { ...settled, requester })
      }
      if (identifier === null) return answer(await settleAs(identity))
      return await settleIdentified({ request, payment, identifier, identity, settleAs })
    }
    if (keyed === null || !isAnonymous(request)) return await settleWith({})
    const binding = { ...keyed, caller: `payee:${caller}:${hashPayee(payment)}` }
    return answer(await settleBound(binding, async (hooks) => (await settleWith(hooks)).result))
  }

  /**
   * A client that pays again under its identifier is refused (409), so that a lost response never costs it twice. Only
   * where the resource server declares the extension is the success replayed: a client could otherwise earn two
   * deliveries with one payment.
   */
  const settleIdentified = async ({
    request,
    payment,
    identifier,
    identity,
    settleAs,
  }: IdentifiedSettle): Promise<SettleResponse> => {
    const idempotent = {
      caller: scopeOf(request, payment),
      key: hashOf(`${identifier.dialect} ${identifier.id}`),
      fingerprint: fingerprintRequest(request.body),
    }
    const consumer = `${idempotent.caller}:${idempotent.key}`
    return await settleOncePerKey({
      idempotent,
      name: `\`${identifierKeys[identifier.dialect]}\``,
      // Nothing moved: the client may sign again under its identifier.
      staysBound: { refused: false, failed: false },
      settle: () =>
        settleAs(
          identifier.isDeclared && identity.isAwaited !== undefined
            ? { fingerprint: identity.fingerprint, consumer }
            : identity,
        ),
      ...(identifier.isDeclared ? {} : { settleAgain: () => settleAs(identity) }),
    })
  }

  return async (request): Promise<SettleResponse> => {
    const { body, caller, idempotencyKey } = request
    if (idempotencyKey === null) {
      const identity = {
        fingerprint: () => fingerprintRequest(body),
        consumer: `request:${randomUUID()}`,
        ...(request.isAwaited === undefined ? {} : { isAwaited: request.isAwaited }),
      }
      return await settle(request, identity, null)
    }

    // Before the payment is read: a key belongs to one body, also if that body is refused.
    const fingerprint = fingerprintRequest(body)
    // Callers without an API key share the name `anonymous`, and a request that only runs or is refused must not occupy
    // the key: that state belongs to the body. `settleBound` binds the key once a payment is sent.
    const scope = isAnonymous(request) ? `${caller}:${fingerprint}` : caller
    const idempotent = { caller: scope, key: idempotencyKey, fingerprint }
    return await settleOncePerKey({
      idempotent,
      name: 'Idempotency-Key',
      staysBound: { refused: !isAnonymous(request), failed: true },
      settle: async () => {
        const consumer = `key:${idempotent.caller}:${idempotent.key}`
        return (await settle(request, { fingerprint, consumer }, { key: idempotencyKey, fingerprint })).result
      },
    })
  }
}

interface IdentifiedSettle {
  readonly request: SettleRequest
  readonly payment: Payment
  readonly identifier: PaymentIdentifier
  readonly identity: Identity
  readonly settleAs: (identity: Identity) => Promise<SettleResult>
}

const answer = (result: SettleResult): SettleResponse => ({ result, isReplayed: false })

/** One merchant's identifiers never meet another's. */
const scopeOf = (request: SettleRequest, payment: Payment): string =>
  isAnonymous(request) ? `identifier:anonymous:${hashPayee(payment)}` : `identifier:${request.caller}`

const hashPayee = ({ requirements: { network, payTo } }: Payment): string => hashOf(`${network} ${payTo}`)

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')
