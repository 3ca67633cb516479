import type { components, paths } from '../../sdk/src/schema.js'

export type Schemas = components['schemas']

export interface ApiError {
  /** Null: no response arrived. */
  readonly status: number | null
  readonly code: string
  readonly message: string
  readonly requestId: string | null
  readonly retryAfterSeconds: number | null
}

/** Errors are values: what a page shows of them is its own decision. */
export type Result<Data> =
  | { readonly ok: true; readonly data: Data }
  | { readonly ok: false; readonly error: ApiError }

type Method = 'get' | 'post' | 'put' | 'delete'
type PathOf<M extends Method> = {
  [Path in keyof paths]: paths[Path] extends { readonly [_ in M]: object } ? Path : never
}[keyof paths]
type Operation<Path extends keyof paths, M extends Method> = paths[Path] extends { [_ in M]: infer Found }
  ? Found
  : never
type JsonOf<Response> = Response extends { content: { 'application/json': infer Body } } ? Body : never
type DataOf<Found> = Found extends { responses: infer Responses }
  ? JsonOf<Responses[keyof Responses & (200 | 201)]>
  : never
type BodyOf<Found> = Found extends { requestBody?: { content: { 'application/json': infer Body } } }
  ? Body
  : never
type QueryOf<Found> = Found extends { parameters: { query?: infer Query } } ? Query : never
type ParamsOf<Found> = Found extends { parameters: { path: infer Params } } ? Params : never

/** What a successful answer contains. */
export type Answer<Path extends keyof paths, M extends Method = 'get'> = DataOf<Operation<Path, M>>

interface Waiting {
  /** Instead of that of the session. */
  readonly key?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** Of the whole answer; default 15 s. */
  readonly timeoutMs?: number
  /** Instead of `body`: JSON text, which is sent as it is. */
  readonly json?: string
  /** The same for each attempt of one decision. */
  readonly idempotencyKey?: string
  /** On this route a 401 means that the key belongs to another owner, not that it is refused. */
  readonly isForOwners?: boolean
}

interface Input<Found> extends Waiting {
  readonly query?: QueryOf<Found>
  readonly params?: ParamsOf<Found>
  readonly body?: BodyOf<Found>
}

interface Requested extends Waiting {
  readonly method: string
  readonly query?: unknown
  readonly params?: unknown
  readonly body?: unknown
}

const defaultTimeoutMs = 15_000

interface ApiDependencies {
  /** Null: requests carry no key. */
  getKey(): string | null
  /** Statuses that say that the key is not valid, or no longer. */
  readonly refusals: readonly number[]
  onKeyRefused(key: string, message: string): void
  onAnswer(answer: { readonly isSandbox: boolean }): void
}

/** Requests of this origin only. The key travels in a header, and never in a URL or a log. */
export const createApi = ({ getKey, refusals, onKeyRefused, onAnswer }: ApiDependencies) => {
  const send = async <Data>(path: string, requested: Requested): Promise<Result<Data>> => {
    const { method, query, params, body, signal, timeoutMs = defaultTimeoutMs, isForOwners } = requested
    const { idempotencyKey } = requested
    const json = requested.json ?? (body === undefined ? undefined : JSON.stringify(body))
    const key = requested.key ?? getKey()
    const deadline = AbortSignal.timeout(timeoutMs)
    try {
      const response = await fetch(writeUrl(path, params, query), {
        method,
        headers: {
          accept: 'application/json',
          ...(key === null ? {} : { authorization: `Bearer ${key}` }),
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(json === undefined ? {} : { body: json }),
        signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
        credentials: 'omit',
        cache: 'no-store',
        // Keys can be restricted to hosts: `allowedRef` reads them here.
        referrerPolicy: 'origin',
      })
      onAnswer({ isSandbox: response.headers.get('x-sandbox') === 'true' })
      // Answers of this origin have the types of its own document.
      if (response.ok) return { ok: true, data: await response.json() }
      const error = readError(response, await response.json().catch(() => null))
      const isRefused = refusals.includes(response.status) && isForOwners !== true
      if (key !== null && isRefused) onKeyRefused(key, error.message)
      return { ok: false, error }
    } catch {
      return { ok: false, error: noResponse(deadline.aborted, timeoutMs) }
    }
  }

  const call =
    <M extends Method>(method: M) =>
    <Path extends PathOf<M>>(
      path: Path,
      input: Input<Operation<Path, M>> = {},
    ): Promise<Result<DataOf<Operation<Path, M>>>> =>
      send(String(path), { ...input, method: method.toUpperCase() })

  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    delete: call('delete'),
    /** For files that are no part of the API. */
    getFile: <Data>(path: string): Promise<Result<Data>> => send(path, { method: 'GET' }),
  }
}

const writeUrl = (path: string, params: unknown, query: unknown): string => {
  const filled = Object.entries(params ?? {}).reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(String(value))),
    path,
  )
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== '')
  const search = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return search === '' ? filled : `${filled}?${search}`
}

const readError = (response: Response, json: unknown): ApiError => {
  const fields = new Map<string, unknown>(
    typeof json === 'object' && json !== null ? Object.entries(json) : [],
  )
  const read = (name: string): string | null => {
    const value = fields.get(name)
    return typeof value === 'string' ? value : null
  }
  const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN)
  return {
    status: response.status,
    code: read('code') ?? 'UNEXPECTED_RESPONSE',
    message: read('message') ?? `The service answered ${response.status}`,
    requestId: response.headers.get('x-request-id'),
    retryAfterSeconds: Number.isFinite(retryAfter) ? retryAfter : null,
  }
}

const noResponse = (isLate: boolean, timeoutMs: number): ApiError => ({
  status: null,
  code: 'NO_RESPONSE',
  message: isLate
    ? `The service did not answer within ${Math.round(timeoutMs / 1_000)} s`
    : 'The service cannot be reached',
  requestId: null,
  retryAfterSeconds: null,
})
