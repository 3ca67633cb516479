import { createMicroBatcher } from '../../concurrency/microBatcher.js'
import type { Secret } from '../../platform/secret.js'
import { type Endpoint, RpcError } from './endpoint.js'
import {
  createHttpClient,
  type HttpResponse,
  NoResponseError,
  type RequestHeaders,
  ResponseTooLargeError,
} from './httpClient.js'
import { isSuccess, readBatchResponses, readJsonBody, readJsonRpcResponse } from './jsonRpcResponse.js'
import { RateLimitedError } from './rateLimitedError.js'
import { createUrlScrubber } from './urlScrubber.js'

interface PendingCall {
  readonly id: number
  readonly json: string
  readonly deadlineAt: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

const maxBatchSize = 100
// In characters. Longer requests are sent alone; 100 shorter ones stay below common body limits of 2 MB.
const unbatchedLength = 8_000

const tooManyRequests = 429

/** Statuses with which nodes refuse a batch as such; its requests are then sent one by one. */
const batchRefusals = [400, 413]

interface JsonRpcOptions {
  readonly headers?: RequestHeaders
  readonly takesBatches?: boolean
  /** Default: as `createHttpClient` has it. */
  readonly connections?: number
}

/**
 * Requests of the same tick are sent as one JSON-RPC batch. A refused batch halves the batch size and is sent
 * again one by one; one whose response is too large is sent again in halves, so that only the request that asks for too
 * much fails.
 */
export const createJsonRpcEndpoint = (
  url: Secret,
  timeoutMs: number,
  { headers = {}, takesBatches = true, connections }: JsonRpcOptions = {},
): Endpoint => {
  const { host } = new URL(url.reveal())
  const http = createHttpClient(url, headers, connections)
  const scrub = createUrlScrubber(url)
  let batchSize = takesBatches ? maxBatchSize : 1
  let lastId = 0

  const complete = ({ resolve, reject }: PendingCall, json: unknown, envelope?: HttpResponse): void => {
    const response = readJsonRpcResponse(json)
    const status = envelope?.status ?? 200
    if (envelope?.status === tooManyRequests) reject(new RateLimitedError(envelope.retryAfterMs))
    else if (response === null)
      reject(new NoResponseError(host, isSuccess(status) ? 'not a JSON-RPC response' : `HTTP ${status}`))
    else if ('result' in response) resolve(response.result)
    else {
      const { code, message, data, cause } = response.error
      reject(new RpcError(code, scrub(message), data, cause))
    }
  }

  const sendSingle = async (call: PendingCall): Promise<void> => {
    const response = await http.post(call.json, remainingMs(call))
    complete(call, readJsonBody(response), response)
  }

  const sendBatch = async (batch: readonly PendingCall[], first: PendingCall): Promise<void> => {
    const response = await http.post(`[${batch.map(({ json }) => json).join()}]`, remainingMs(first))
    const json = readJsonBody(response)
    const responses = readBatchResponses(json) ?? new Map()
    // Not a refusal of the batch, such as 429: sending again one by one would make it worse.
    if (!isSuccess(response.status) && !batchRefusals.includes(response.status)) {
      for (const call of batch) complete(call, json, response)
      return
    }
    const unanswered = batch.filter(({ id }) => !responses.has(id))
    for (const call of batch) if (responses.has(call.id)) complete(call, responses.get(call.id))
    if (unanswered.length === 0) return
    batchSize = Math.min(batchSize, Math.max(1, Math.floor(batch.length / 2)))
    for (const call of unanswered) send([call])
  }

  const send = (batch: readonly PendingCall[]): void => {
    const [first] = batch
    if (first === undefined) return
    const sending = batch.length === 1 ? sendSingle(first) : sendBatch(batch, first)
    sending.catch((error: unknown) => {
      if (error instanceof ResponseTooLargeError && batch.length > 1) {
        const half = Math.ceil(batch.length / 2)
        send(batch.slice(0, half))
        send(batch.slice(half))
        return
      }
      for (const { reject } of batch) reject(error)
    })
  }

  const batcher = createMicroBatcher<PendingCall>({
    maxItems: () => batchSize,
    run: async (batch) => send(batch),
  })

  const enqueue = (method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lastId += 1
      const json = JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })
      const call = { id: lastId, json, deadlineAt: performance.now() + timeoutMs, resolve, reject }
      if (json.length >= unbatchedLength) send([call])
      else batcher.add(call)
    })

  return { host, request: async (method, params, schema) => schema.parse(await enqueue(method, params)) }
}

const remainingMs = ({ deadlineAt }: PendingCall): number =>
  Math.max(1, Math.ceil(deadlineAt - performance.now()))
