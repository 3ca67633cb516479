import { QuittanceError } from './error.js'

/** What `openapi-fetch` returns. */
interface ApiResponse<Data> {
  readonly data?: Data
  readonly error?: unknown
  readonly response: Response
}

interface RequestOptions {
  readonly deadline: number
  readonly signal?: AbortSignal | undefined
  readonly idempotencyKey?: string
}

const pauseMs = 1_000
const temporaryCodes: readonly string[] = ['REQUEST_IN_PROGRESS', 'RATE_LIMITED']

/**
 * The data of a decided response. What may pass is asked again until the deadline: no response, 5xx, a rate
 * limit, a request in progress.
 * @throws QuittanceError
 */
export const requestUntil = async <Data>(
  send: (signal: AbortSignal) => Promise<ApiResponse<Data>>,
  options: RequestOptions,
): Promise<Data> => {
  const { deadline, signal } = options
  for (;;) {
    const failure = await attempt(send, options)
    if (!(failure instanceof QuittanceError)) return failure.data
    signal?.throwIfAborted()
    const waitMs = (failure.retryAfterSeconds ?? pauseMs / 1_000) * 1_000
    if (!isTemporary(failure) || Date.now() + waitMs >= deadline) throw failure
    await pause(waitMs, signal)
  }
}

/** @throws QuittanceError */
export const requestOnce = async <Data>(
  send: (signal: AbortSignal) => Promise<ApiResponse<Data>>,
  options: RequestOptions,
): Promise<Data> => {
  const result = await attempt(send, options)
  if (!(result instanceof QuittanceError)) return result.data
  options.signal?.throwIfAborted()
  throw result
}

const attempt = async <Data>(
  send: (signal: AbortSignal) => Promise<ApiResponse<Data>>,
  { deadline, signal, idempotencyKey = '' }: RequestOptions,
): Promise<{ readonly data: Data } | QuittanceError> => {
  const timeout = AbortSignal.timeout(Math.max(deadline - Date.now(), 1))
  const key = idempotencyKey === '' ? null : idempotencyKey
  try {
    const { data, error, response } = await send(
      signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    )
    // A proxy may answer 200 with JSON of its own.
    if (typeof data === 'object' && data !== null) return { data }
    const { code, message, errorReason } = readError(error)
    return new QuittanceError({
      status: response.status,
      code: code ?? 'UNEXPECTED_RESPONSE',
      message: message ?? `The facilitator answered ${response.status}`,
      retryAfterSeconds: readSeconds(response.headers.get('retry-after')),
      requestId: response.headers.get('x-request-id'),
      idempotencyKey: key,
      errorReason,
    })
  } catch (cause) {
    return new QuittanceError({
      status: null,
      code: 'NO_RESPONSE',
      message:
        key === null
          ? 'The facilitator did not answer'
          : 'The facilitator did not answer: it may have settled the payment, or be settling it',
      retryAfterSeconds: null,
      requestId: null,
      idempotencyKey: key,
      errorReason: null,
      cause,
    })
  }
}

const isTemporary = ({ status, code }: QuittanceError): boolean =>
  status === null || status >= 500 || temporaryCodes.includes(code)

const readError = (body: unknown) => {
  const fields = new Map<string, unknown>(
    typeof body === 'object' && body !== null ? Object.entries(body) : [],
  )
  const read = (name: string): string | null => {
    const value = fields.get(name)
    return typeof value === 'string' ? value : null
  }
  return { code: read('code'), message: read('message'), errorReason: read('errorReason') }
}

const readSeconds = (header: string | null): number | null => {
  const seconds = Number(header ?? Number.NaN)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null
}

/** @throws the reason of the signal */
export const pause = (durationMs: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, durationMs)
    signal?.addEventListener('abort', abort, { once: true })
  })
