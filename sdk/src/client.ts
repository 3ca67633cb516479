import createApi, { type Client } from 'openapi-fetch'
import { createDashboard, type Dashboard } from './dashboard.js'
import type { Explanation, Payment, Settlement, VerifyResult } from './payment.js'
import { requestUntil } from './request.js'
import type { paths } from './schema.js'
import { settleUntil } from './settle.js'

export interface ClientOptions {
  /** Such as `https://facilitator.example`. */
  readonly url: string
  readonly apiKey?: string
  readonly fetch?: typeof globalThis.fetch
}

interface WaitOptions {
  /** Bounds all attempts together. Default: 30,000 for verify and explain, 90,000 for settle. */
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
   * What a verification finds, rule by rule, also of a body that is malformed; for developers. Nothing is reserved.
   * @throws QuittanceError when nothing was explained
   */
  explain(payment: Payment | Readonly<Record<string, unknown>>, options?: WaitOptions): Promise<Explanation>
  /**
   * Deliver on `success: true`. Repeats the request with one Idempotency-Key until the outcome is final;
   * `status: "pending"` in the result means that it was not within `timeoutMs`: settle again with its
   * `idempotencyKey`.
   * @throws QuittanceError when nothing was decided, or no response says what was; settle again with its
   * `idempotencyKey`
   */
  settle(payment: Payment, options?: SettleOptions): Promise<Settlement>
  readonly dashboard: Dashboard
}

const verifyTimeoutMs = 30_000
const settleTimeoutMs = 90_000

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

  const explain: QuittanceClient['explain'] = (payment, { timeoutMs = verifyTimeoutMs, signal } = {}) =>
    requestUntil((attempt) => api.POST('/v1/explain', { body: { ...payment }, signal: attempt }), {
      deadline: Date.now() + timeoutMs,
      signal,
    })

  const settle: QuittanceClient['settle'] = (
    payment,
    { idempotencyKey = crypto.randomUUID(), timeoutMs = settleTimeoutMs, signal } = {},
  ) => settleUntil(api, { payment, idempotencyKey, timeoutMs, signal })

  return { api, verify, explain, settle, dashboard: createDashboard(api) }
}
