import createApi, { type Client } from 'openapi-fetch'
import { createDashboard, type Dashboard } from './dashboard.js'
import type { Payment, SettleResult, VerifyResult } from './payment.js'
import { pause, requestUntil } from './request.js'
import type { paths } from './schema.js'

export interface ClientOptions {
  /** Such as `https://facilitator.example`. */
  readonly url: string
  readonly apiKey?: string
  readonly fetch?: typeof globalThis.fetch
}

interface WaitOptions {
  /** For all attempts together. Default: 30,000 for verify, 90,000 for settle. */
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

export interface SettleOptions extends WaitOptions {
  /** 1 to 64 letters, digits and hyphens, such as the order's id. Default: a random UUID. */
  readonly idempotencyKey?: string
}

export interface QuittanceClient {
  /** Every operation of the service, typed by its OpenAPI document: `api.GET('/dashboard/usage')`. */
  readonly api: Client<paths>
  /** @throws QuittanceError when nothing was decided */
  verify(payment: Payment, options?: WaitOptions): Promise<VerifyResult>
  /**
   * Deliver on `success: true`. Repeats the request with one Idempotency-Key until the outcome is final;
   * `status: "pending"` in the result means that it was not within `timeoutMs`.
   * @throws QuittanceError when nothing was decided; settle again with its `idempotencyKey`
   */
  settle(payment: Payment, options?: SettleOptions): Promise<SettleResult>
  readonly dashboard: Dashboard
}

const verifyTimeoutMs = 30_000
const settleTimeoutMs = 90_000
const pendingPauseMs = 2_000

export const createClient = ({ url, apiKey, fetch }: ClientOptions): QuittanceClient => {
  const api = createApi<paths>({
    baseUrl: url,
    ...(apiKey === undefined ? {} : { headers: { authorization: `Bearer ${apiKey}` } }),
    ...(fetch === undefined ? {} : { fetch }),
  })

  const verify: QuittanceClient['verify'] = (payment, { timeoutMs = verifyTimeoutMs, signal } = {}) =>
    requestUntil((attempt) => api.POST('/verify', { body: payment, signal: attempt }), {
      deadline: Date.now() + timeoutMs,
      signal,
    })

  const settle: QuittanceClient['settle'] = async (payment, options = {}) => {
    const { idempotencyKey = crypto.randomUUID(), timeoutMs = settleTimeoutMs, signal } = options
    const deadline = Date.now() + timeoutMs
    const send = (attempt: AbortSignal) =>
      api.POST('/settle', {
        body: payment,
        params: { header: { 'Idempotency-Key': idempotencyKey } },
        signal: attempt,
      })
    for (;;) {
      const result = await requestUntil(send, { deadline, signal, idempotencyKey })
      if (result.status !== 'pending' || Date.now() + pendingPauseMs >= deadline) return result
      await pause(pendingPauseMs, signal)
    }
  }

  return { api, verify, settle, dashboard: createDashboard(api) }
}
