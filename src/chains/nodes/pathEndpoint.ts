import type { Secret } from '../../platform/secret.js'
import { type Endpoint, RateLimitedError, RpcError } from './endpoint.js'
import {
  createHttpClient,
  createUrlScrubber,
  type HttpResponse,
  isSuccess,
  NoResponseError,
  parseJson,
  type RequestHeaders,
} from './httpClient.js'
import { traceEndpoint } from './tracedEndpoint.js'

const tooManyRequests = 429
const firstServerError = 500

const maxErrorLength = 200

/** A node with one path per request, read with GET, or with POST and a JSON body if `params` is not null. Its 404 is an `RpcError`. */
export const createPathEndpoint = (
  url: Secret,
  timeoutMs: number,
  headers: RequestHeaders = {},
): Endpoint => {
  const http = createHttpClient(url, headers)
  const { host } = new URL(url.reveal())
  const scrub = createUrlScrubber(url)

  const read = ({ status, text, retryAfterMs }: HttpResponse): unknown => {
    if (status === tooManyRequests) throw new RateLimitedError(retryAfterMs)
    if (status >= firstServerError) throw new NoResponseError(host, `HTTP ${status}`)
    if (!isSuccess(status)) throw new RpcError(status, scrub(text.slice(0, maxErrorLength)))
    const json = parseJson(text)
    if (json === null) throw new NoResponseError(host, 'not JSON')
    return json
  }

  return traceEndpoint('http', {
    host,
    request: async (path, body, schema) => {
      const response =
        body === null
          ? await http.get(path, timeoutMs)
          : await http.post(JSON.stringify(body), timeoutMs, path)
      return schema.parse(read(response))
    },
  })
}
