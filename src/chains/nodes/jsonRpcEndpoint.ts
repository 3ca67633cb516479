import { z } from 'zod'
import { createMicroBatcher } from '../../concurrency/microBatcher.js'
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
  ResponseTooLargeError,
} from './httpClient.js'
import { traceEndpoint } from './tracedEndpoint.js'

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

  return traceEndpoint('jsonrpc', {
    host,
    request: async (method, params, schema) => schema.parse(await enqueue(method, params)),
  })
}

const remainingMs = ({ deadlineAt }: PendingCall): number =>
  Math.max(1, Math.ceil(deadlineAt - performance.now()))

type JsonRpcResponse =
  | { readonly result: unknown }
  | {
      readonly error: {
        readonly code: number
        readonly message: string
        readonly data: unknown
        /** Name of the cause, on chains that give one (NEAR). */
        readonly cause: string | null
      }
    }

/** Null if it is not a JSON-RPC response. */
const readJsonRpcResponse = (response: unknown): JsonRpcResponse | null => {
  if (!isObject(response)) return null
  if ('error' in response && response.error != null) {
    const parsed = errorShape.safeParse(
      typeof response.error === 'string' ? toError(response.error, response) : response.error,
    )
    if (!parsed.success) return null
    const { code, message, data = null, cause } = parsed.data
    return { error: { code, message, data, cause } }
  }
  return 'result' in response ? { result: response.result } : null
}

/** Keyed by request id; null if it is not an array. */
const readBatchResponses = (responses: unknown): ReadonlyMap<unknown, unknown> | null => {
  if (!Array.isArray(responses)) return null
  const list: readonly unknown[] = responses
  return new Map(list.map((each) => [isObject(each) && 'id' in each ? each.id : null, each]))
}

/** Null without valid JSON. With an error status only a JSON-RPC error counts, never a gateway's body. */
const readJsonBody = ({ status, text }: HttpResponse): unknown => {
  const json = parseJson(text)
  if (isSuccess(status)) return json
  const response = readJsonRpcResponse(json)
  return response !== null && 'error' in response ? json : null
}

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const errorShape = z.object({
  code: z.number(),
  message: z.string(),
  data: z.unknown().optional(),
  cause: z
    .object({ name: z.string() })
    .transform(({ name }) => name)
    .nullable()
    .catch(null),
})

/** Some gateways, such as toncenter, send `error` as a string with `code` beside it. */
const toError = (message: string, response: object) => ({
  code: 'code' in response ? response.code : 0,
  message,
})
