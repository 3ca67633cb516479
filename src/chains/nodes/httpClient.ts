import { Pool } from 'undici'
import type { Secret } from '../../platform/secret.js'

export interface HttpResponse {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | null
}

/** The deadline covers the whole response; rejects with `NoResponseError`. */
type Post = (json: string, deadlineMs: number, path?: string) => Promise<HttpResponse>

export type RequestHeaders = Readonly<Record<string, Secret>>

/** No response, or not a valid one. The message holds the host only, never the rest of the URL. */
export class NoResponseError extends Error {
  constructor(host: string, reason: string) {
    super(`No valid response from ${host}: ${reason}`)
    this.name = 'NoResponseError'
  }
}

/** Per endpoint; further requests wait for a connection within their deadline. */
const maxConnections = 32
const maxResponseBytes = 33_554_432

export const createPost = (url: Secret, extraHeaders: RequestHeaders = {}): Post => {
  const { origin, host, pathname, search, username, password } = new URL(url.reveal())
  const pool = new Pool(origin, {
    connections: maxConnections,
    pipelining: 1,
    // Longer than the interval of the monitor's probes, so that idle connections stay open. A server's own
    // limit takes precedence.
    keepAliveTimeout: 20_000,
    maxResponseSize: maxResponseBytes,
    // undici's timers have a resolution of 0.5 s and restart with each byte; the deadline below bounds the
    // request.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...Object.fromEntries(Object.entries(extraHeaders).map(([name, key]) => [name, key.reveal()])),
    ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
  }

  const exchange = async (json: string, path: string, signal: AbortSignal): Promise<HttpResponse> => {
    try {
      const fullPath = path === '' ? pathname : `${pathname.replace(/\/$/, '')}${path}`
      const request = { path: `${fullPath}${search}`, method: 'POST', headers, body: json, signal } as const
      const { statusCode, headers: responseHeaders, body } = await pool.request(request)
      const retryAfterMs = readRetryAfter(responseHeaders['retry-after'])
      return { status: statusCode, text: await body.text(), retryAfterMs }
    } catch (error) {
      // Only the code: the message of a library error may hold the URL.
      throw new NoResponseError(host, readErrorCode(error))
    }
  }

  return (json, deadlineMs, path = '') =>
    new Promise((resolve, reject) => {
      const controller = new AbortController()
      const timer = setTimeout(() => {
        reject(new NoResponseError(host, `no response within ${deadlineMs} ms`))
        controller.abort()
      }, deadlineMs)
      exchange(json, path, controller.signal)
        .finally(() => clearTimeout(timer))
        .then(resolve, reject)
    })
}

/** Seconds only; the date form depends on synchronized clocks and is ignored. */
const readRetryAfter = (header: string | string[] | undefined): number | null =>
  typeof header === 'string' && /^\d{1,5}$/.test(header) ? Number(header) * 1_000 : null

const readErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'
