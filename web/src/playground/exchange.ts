import { endSession, session } from '../session.js'
import { parseObject, readText } from './json.js'

export interface WireRequest {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

type HeaderList = readonly (readonly [name: string, value: string])[]

/** One request as it was sent, and what came back. */
export interface Exchange {
  readonly method: string
  readonly path: string
  /** The key is replaced by its name. */
  readonly requestHeaders: HeaderList
  readonly requestBody: string | null
  /** Null: no answer arrived. */
  readonly response: { readonly status: number; readonly headers: HeaderList; readonly body: string } | null
  readonly milliseconds: number
}

export type Send = (request: WireRequest) => Promise<Exchange>

// A settlement waits for its block.
const timeoutMs = 75_000

/** Requests of this origin, which are shown afterwards: their answers are text, whatever the status. */
export const createSend =
  (left: AbortSignal): Send =>
  async ({ method, path, headers = {}, body }) => {
    const { key } = session.get()
    const requestBody = body === undefined ? null : JSON.stringify(body)
    const shown = {
      accept: 'application/json',
      ...(requestBody === null ? {} : { 'content-type': 'application/json' }),
      ...headers,
    }
    const sent = key === null ? shown : { ...shown, authorization: `Bearer ${key}` }
    const begun = performance.now()
    const response = await fetch(path, {
      method,
      headers: sent,
      ...(requestBody === null ? {} : { body: requestBody }),
      signal: AbortSignal.any([left, AbortSignal.timeout(timeoutMs)]),
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'origin',
    })
      .then(readResponse)
      .catch(() => null)
    const exchange: Exchange = {
      method,
      path,
      requestHeaders: Object.entries(
        key === null ? shown : { ...shown, authorization: 'Bearer $QUITTANCE_API_KEY' },
      ),
      requestBody,
      response,
      milliseconds: Math.round(performance.now() - begun),
    }
    if (response?.status === 401 && key !== null && session.get().key === key) {
      endSession(readText(parseObject(response.body), 'message') ?? 'The key is not valid')
    }
    return exchange
  }

const readResponse = async (response: Response): Promise<NonNullable<Exchange['response']>> => ({
  status: response.status,
  headers: [...response.headers],
  body: await response.text(),
})

/** Of an answer in the range of success; null otherwise. */
export const readAnswer = ({ response }: Exchange) =>
  response !== null && response.status >= 200 && response.status < 300 ? parseObject(response.body) : null
