import { setImmediate } from 'node:timers/promises'
import { Pool } from 'undici'
import type { Secret } from '../../platform/secret.js'

export interface HttpResponse {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | null
}

/**
 * Paths are appended to that of the URL. Deadlines cover the whole response; rejects with `NoResponseError`, or with
 * `ResponseTooLargeError` above the limit.
 */
interface HttpClient {
  post(json: string, deadlineMs: number, path?: string): Promise<HttpResponse>
  /** `path` may have a query. */
  get(path: string, deadlineMs: number): Promise<HttpResponse>
}

export type RequestHeaders = Readonly<Record<string, Secret>>

/** No response, or not a valid one. The message holds the host only, never the rest of the URL. */
export class NoResponseError extends Error {
  constructor(host: string, reason: string) {
    super(`No valid response from ${host}: ${reason}`)
    this.name = 'NoResponseError'
  }
}

/** The node answers, but with more than is read: what was asked for is that large. */
export class ResponseTooLargeError extends Error {
  constructor(host: string) {
    super(`The response of ${host} exceeds ${maxResponseBytes} bytes`)
    this.name = 'ResponseTooLargeError'
  }
}

/** Per client; further requests wait for a connection within their deadline. */
const defaultConnections = 32
const maxResponseBytes = 33_554_432
// undici reports this code when a body exceeds `maxResponseSize`.
const tooLargeCode = 'UND_ERR_RES_EXCEEDED_MAX_SIZE'
/** The connection ended before the response did. */
const lostConnectionCodes = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']

export const createHttpClient = (
  url: Secret,
  extraHeaders: RequestHeaders = {},
  connections = defaultConnections,
): HttpClient => {
  const { origin, host, pathname, search, username, password } = new URL(url.reveal())
  const pool = new Pool(origin, {
    connections,
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

  const exchangeOnce = async (request: ClientRequest, signal: AbortSignal): Promise<HttpResponse> => {
    const { statusCode, headers: responseHeaders, body } = await pool.request({ headers, signal, ...request })
    const retryAfterMs = readRetryAfter(responseHeaders['retry-after'])
    return { status: statusCode, text: await body.text(), retryAfterMs }
  }

  const exchange = async (request: ClientRequest, signal: AbortSignal): Promise<HttpResponse> => {
    try {
      return await exchangeOnce(request, signal).catch(async (error: unknown) => {
        if (!lostConnectionCodes.includes(readErrorCode(error))) throw error
        // A server may close an idle connection at the moment at which it is used again, which says nothing about
        // its health. Nothing that is sent to nodes does harm when it arrives twice: reads, and signed transactions.
        // The other connections that it closed are noticed before the next turn of the event loop.
        await setImmediate()
        return await exchangeOnce(request, signal)
      })
    } catch (error) {
      const code = readErrorCode(error)
      if (code === tooLargeCode) throw new ResponseTooLargeError(host)
      // Only the code: the message of a library error may hold the URL.
      throw new NoResponseError(host, code)
    }
  }

  const send = (request: ClientRequest, deadlineMs: number): Promise<HttpResponse> =>
    new Promise((resolve, reject) => {
      const controller = new AbortController()
      const timer = setTimeout(() => {
        reject(new NoResponseError(host, `no response within ${deadlineMs} ms`))
        controller.abort()
      }, deadlineMs)
      exchange(request, controller.signal)
        .finally(() => clearTimeout(timer))
        .then(resolve, reject)
    })

  const pathOf = (path: string) => (path === '' ? pathname : `${pathname.replace(/\/$/, '')}${path}`)
  // A query of the URL may hold a key.
  const withQuery = (path: string) =>
    path.includes('?') ? `${path}${search.replace('?', '&')}` : `${path}${search}`

  return {
    post: (json, deadlineMs, path = '') =>
      send({ path: withQuery(pathOf(path)), method: 'POST', body: json }, deadlineMs),
    get: (path, deadlineMs) => send({ path: withQuery(pathOf(path)), method: 'GET' }, deadlineMs),
  }
}

/** Null if it is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const isSuccess = (status: number): boolean => status >= 200 && status <= 299

type ClientRequest =
  | { readonly path: string; readonly method: 'POST'; readonly body: string }
  | { readonly path: string; readonly method: 'GET' }

/** Seconds only; the date form depends on synchronized clocks and is ignored. */
const readRetryAfter = (header: string | string[] | undefined): number | null =>
  typeof header === 'string' && /^\d{1,5}$/.test(header) ? Number(header) * 1_000 : null

const readErrorCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'

const shortestSecret = 6

/** Removes secrets of a URL from a node's error text: some gateways quote the key that they refuse. */
export const createUrlScrubber = (url: Secret): ((text: string) => string) => {
  const { pathname, searchParams, username, password } = new URL(url.reveal())
  const parts = [...pathname.split('/'), ...searchParams.values(), username, password]
  const secrets = parts
    .flatMap((part) => [part, decode(part), encodeURIComponent(part)])
    .filter((part) => part.length >= shortestSecret)
  return (text) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '…'), text)
}

const decode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
