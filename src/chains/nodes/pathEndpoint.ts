import type { Secret } from '../../platform/secret.js'
import { type Endpoint, RpcRefusal } from './endpoint.js'
import { isSuccess, parseJson } from './jsonRpcAnswer.js'
import { createPost, NoResponseError, type RequestHeaders } from './post.js'
import { RateLimitedError } from './rateLimitedError.js'
import { createUrlScrubber } from './urlScrubber.js'

const tooManyRequests = 429
const firstServerFault = 500

// Of a node's words only so many are of use.
const maxWords = 200

/** Connects to a node that has a path for each question, and JSON for body and answer. */
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
      if (status >= firstServerFault) throw new NoResponseError(host, `HTTP ${status}`)
      if (!isSuccess(status)) throw new RpcRefusal(status, scrub(text.slice(0, maxWords)))
      const json = parseJson(text)
      if (json === null) throw new NoResponseError(host, 'no JSON')
      return schema.parse(json)
    },
  }
}
