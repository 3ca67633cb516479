import type { Secret } from '../../platform/secret.js'
import { type Endpoint, RpcError } from './endpoint.js'
import { createHttpClient, type HttpResponse, NoResponseError, type RequestHeaders } from './httpClient.js'
import { isSuccess, parseJson } from './jsonRpcResponse.js'
import { RateLimitedError } from './rateLimitedError.js'
import { createUrlScrubber } from './urlScrubber.js'

const tooManyRequests = 429
const firstServerError = 500

const maxErrorLength = 200

/** A node with one path per method and JSON bodies, such as TRON's HTTP API. */
export const createPathEndpoint = (
  url: Secret,
  timeoutMs: number,
  headers: RequestHeaders = {},
): Endpoint => {
  const http = createHttpClient(url, headers)
  return createEndpoint(url, (path, body) => http.post(JSON.stringify(body), timeoutMs, path))
}

/** A node whose resources are read with GET, or with POST if `params` is not null. Its 404 is an `RpcError`. */
export const createRestEndpoint = (
  url: Secret,
  timeoutMs: number,
  headers: RequestHeaders = {},
): Endpoint => {
  const http = createHttpClient(url, headers)
  return createEndpoint(url, (path, body) =>
    body === null ? http.get(path, timeoutMs) : http.post(JSON.stringify(body), timeoutMs, path),
  )
}

const createEndpoint = (
  url: Secret,
  send: (path: string, body: unknown) => Promise<HttpResponse>,
): Endpoint => {
  const read = createResponseReader(url)
  return {
    host: new URL(url.reveal()).host,
    request: async (path, body, schema) => schema.parse(read(await send(path, body))),
  }
}

const createResponseReader = (url: Secret) => {
  const { host } = new URL(url.reveal())
  const scrub = createUrlScrubber(url)
  return ({ status, text, retryAfterMs }: HttpResponse): unknown => {
    if (status === tooManyRequests) throw new RateLimitedError(retryAfterMs)
    if (status >= firstServerError) throw new NoResponseError(host, `HTTP ${status}`)
    if (!isSuccess(status)) throw new RpcError(status, scrub(text.slice(0, maxErrorLength)))
    const json = parseJson(text)
    if (json === null) throw new NoResponseError(host, 'not JSON')
    return json
  }
}
