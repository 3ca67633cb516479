import { Pool } from 'undici'
import type { Secret } from '../../platform/secret.js'

/** What a node answered over HTTP, unread. */
export interface HttpAnswer {
  readonly status: number
  readonly text: string
  /** How long the node wants to be left alone, where it says so. */
  readonly retryAfterMs: number | null
}

/** Posts JSON to one URL, or to a path below it; throws `NoResponseError` when the whole answer has not come in time. */
export type Post = (json: string, deadlineMs: number, path?: string) => Promise<HttpAnswer>

/** Headers that a node wants with each request, such as its provider's key. */
export type RequestHeaders = Readonly<Record<string, Secret>>

/** An endpoint that did not answer. The message names its host and nothing else of its URL. */
export class NoResponseError extends Error {
  constructor(host: string, reason: string) {
    super(`${host} does not answer: ${reason}`)
    this.name = 'NoResponseError'
  }
}

/** How many connections one endpoint gets; what comes beyond waits for one, within its deadline. */
const maxConnections = 32
const maxAnswerBytes = 33_554_432

/** Keeps connections to one URL open and posts over them. */
export const createPost = (url: Secret, keys: RequestHeaders = {}): Post => {
  const { origin, host, pathname, search, username, password } = new URL(url.reveal())
  const pool = new Pool(origin, {
    connections: maxConnections,
    pipelining: 1,
    // Longer than the monitor's rounds, so that a quiet service stays connected; a server's own word goes first.
    keepAliveTimeout: 20_000,
    maxResponseSize: maxAnswerBytes,
    // The library counts in half seconds and restarts with every byte; the deadline below ends it all.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.reveal()])),
    ...(username === '' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
  }

  const exchange = async (json: string, path: string, signal: AbortSignal): Promise<HttpAnswer> => {
    try {
      const below = path === '' ? pathname : `${pathname.replace(/\/$/, '')}${path}`
      const request = { path: `${below}${search}`, method: 'POST', headers, body: json, signal } as const
      const { statusCode, headers: answered, body } = await pool.request(request)
      const retryAfterMs = readRetryAfter(answered['retry-after'])
      return { status: statusCode, text: await body.text(), retryAfterMs }
    } catch (error) {
      // Of a library's error only the code: its words may hold more of the URL than the host.
      throw new NoResponseError(host, readCode(error))
    }
  }

  return (json, deadlineMs, path = '') =>
    new Promise((resolve, reject) => {
      const controller = new AbortController()
      const timer = setTimeout(() => {
        reject(new NoResponseError(host, `nothing within ${deadlineMs} ms`))
        controller.abort()
      }, deadlineMs)
      exchange(json, path, controller.signal)
        .finally(() => clearTimeout(timer))
        .then(resolve, reject)
    })
}

/** In seconds; the form with a date is left to our own patience, because clocks differ. */
const readRetryAfter = (header: string | string[] | undefined): number | null =>
  typeof header === 'string' && /^\d{1,5}$/.test(header) ? Number(header) * 1_000 : null

const readCode = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error'
