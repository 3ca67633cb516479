import type { Secret } from '../../platform/secret.js'
import { type Endpoint, RpcError } from './endpoint.js'
import { createPost, NoResponseError, type RequestHeaders } from './httpClient.js'
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
  const { host } = new URL(url.reveal())
  const post = createPost(url, headers)
  const scrub = createUrlScrubber(url)
  return {
    host,
    request: async (path, body, schema) => {
      const { status, text, retryAfterMs } = await post(JSON.stringify(body), timeoutMs, path)
      if (status === tooManyRequests) throw new RateLimitedError(retryAfterMs)
      if (status >= firstServerError) throw new NoResponseError(host, `HTTP ${status}`)
      if (!isSuccess(status)) throw new RpcError(status, scrub(text.slice(0, maxErrorLength)))
      const json = parseJson(text)
      if (json === null) throw new NoResponseError(host, 'not JSON')
      return schema.parse(json)
    },
  }
}
