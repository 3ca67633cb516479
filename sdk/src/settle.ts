import type { Client } from 'openapi-fetch'
import { QuittanceError } from './error.js'
import type { Payment, Settlement, SettleResult } from './payment.js'
import { pause, requestOnce, requestUntil } from './request.js'
import type { components, paths } from './schema.js'

export interface SettleRequest {
  readonly payment: Payment
  readonly idempotencyKey: string
  readonly timeoutMs: number
  readonly signal?: AbortSignal | undefined
}

const pendingPauseMs = 2_000
const maxLastAskMs = 5_000

/**
 * Every request is a settle with one Idempotency-Key. Looking the settlement up instead would show `confirmed` to every
 * caller: only the settle answer says which request the payment is for.
 * @throws QuittanceError when the facilitator decided nothing, or did not answer
 */
export const settleUntil = async (
  api: Client<paths>,
  { payment, idempotencyKey, timeoutMs, signal }: SettleRequest,
): Promise<Settlement> => {
  // The rest of the time is for one last request, after one that was cut off at this deadline.
  const deadline = Date.now() + timeoutMs - Math.min(maxLastAskMs, timeoutMs / 4)
  const lastDeadline = Date.now() + timeoutMs
  const send = (attempt: AbortSignal) =>
    api.POST('/settle', {
      body: payment,
      params: { header: { 'Idempotency-Key': idempotencyKey } },
      signal: attempt,
    })
  const answer = (result: SettleResult): Settlement => ({ ...result, idempotencyKey })
  const { network } = payment.paymentRequirements

  const ask = async (): Promise<SettleResult> => {
    try {
      return await requestUntil(send, { deadline, signal, idempotencyKey })
    } catch (error) {
      // While another request with the key is in progress, this one is answered 409 at once.
      if (isWithoutResponse(error))
        return requestOnce(send, { deadline: lastDeadline, signal, idempotencyKey })
      throw error
    }
  }

  let pending: SettleResult | null = null
  for (;;) {
    try {
      const result = await ask()
      if (result.status !== 'pending') return answer(result)
      pending = result
    } catch (error) {
      if (!(error instanceof QuittanceError)) throw error
      if (error.code === 'PREVIOUS_REQUEST_FAILED') return answer(asRefusal(error, network))
      // What was sent stays sent, whatever later requests are answered.
      if (pending !== null) return answer(pending)
      if (error.code === 'REQUEST_IN_PROGRESS') return answer(asPending(network))
      throw error
    }
    if (Date.now() + pendingPauseMs >= deadline) return answer(pending)
    await pause(pendingPauseMs, signal)
  }
}

const isWithoutResponse = (error: unknown): boolean =>
  error instanceof QuittanceError && error.status === null

const asPending = (network: string): SettleResult => ({
  success: false,
  status: 'pending',
  transaction: '',
  network,
  errorReason: 'settlement_pending',
  errorMessage: 'The facilitator is still settling this payment',
  retryable: true,
})

const asRefusal = ({ message, errorReason }: QuittanceError, network: string): SettleResult => ({
  success: false,
  transaction: '',
  network,
  ...(isReason(errorReason) ? { errorReason } : {}),
  errorMessage: message,
  retryable: false,
})

/** A later version of the service may have others, as in every result. */
const isReason = (text: string | null): text is components['schemas']['Reason'] => text !== null
