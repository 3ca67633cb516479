import type { Secret } from '../../platform/secret.js'
import { type Endpoint, RpcRefusal } from './endpoint.js'
import { isSuccess, readBatchAnswers, readJsonBody, readJsonRpcAnswer } from './jsonRpcAnswer.js'
import { createPost, type HttpAnswer, NoResponseError, type RequestHeaders } from './post.js'
import { RateLimitedError } from './rateLimitedError.js'
import { createUrlScrubber } from './urlScrubber.js'

/** A request that waits for its answer. */
interface PendingCall {
  readonly id: number
  /** The request as JSON. */
  readonly json: string
  readonly deadlineAt: number
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

const maxBatchSize = 100
// In characters. A longer request gains nothing from company, and the node can begin on it; and a hundred shorter
// ones stay below the bodies of 2 MB that nodes take.
const unbatchedLength = 8_000

const tooManyRequests = 429

/** What a node may answer to a batch that it does not take; each of its requests is then sent by itself. */
const batchRefusals = [400, 413]

/** What is special about a node. */
export interface JsonRpcOptions {
  readonly headers?: RequestHeaders
  /** False for those that are known to take one request at a time only. */
  readonly takesBatches?: boolean
}

/** Connects to one endpoint; requests of the same moment travel in one JSON-RPC batch, where it takes batches. */
export const createJsonRpcEndpoint = (
  url: Secret,
  timeoutMs: number,
  { headers = {}, takesBatches = true }: JsonRpcOptions = {},
): Endpoint => {
  const { host } = new URL(url.reveal())
  const post = createPost(url, headers)
  const scrub = createUrlScrubber(url)
  let batchSize = takesBatches ? maxBatchSize : 1
  let lastId = 0
  let waiting: PendingCall[] = []

  const settle = ({ resolve, reject }: PendingCall, json: unknown, http?: HttpAnswer): void => {
    const answer = readJsonRpcAnswer(json)
    const status = http?.status ?? 200
    if (http?.status === tooManyRequests) reject(new RateLimitedError(http.retryAfterMs))
    else if (answer === null)
      reject(new NoResponseError(host, isSuccess(status) ? 'no JSON-RPC' : `HTTP ${status}`))
    else if ('result' in answer) resolve(answer.result)
    else reject(new RpcRefusal(answer.error.code, scrub(answer.error.message), answer.error.data))
  }

  const sendAlone = async (asked: PendingCall): Promise<void> => {
    const answer = await post(asked.json, remainingMs(asked))
    settle(asked, readJsonBody(answer), answer)
  }

  const sendTogether = async (batch: readonly PendingCall[], first: PendingCall): Promise<void> => {
    const answer = await post(`[${batch.map(({ json }) => json).join()}]`, remainingMs(first))
    const json = readJsonBody(answer)
    const answers = readBatchAnswers(json) ?? new Map()
    // What is refused for another reason, such as too many requests, is not asked again one by one.
    if (!isSuccess(answer.status) && !batchRefusals.includes(answer.status)) {
      for (const asked of batch) settle(asked, json, answer)
      return
    }
    const left = batch.filter(({ id }) => !answers.has(id))
    for (const asked of batch) if (answers.has(asked.id)) settle(asked, answers.get(asked.id))
    if (left.length === 0) return
    // It takes no batches, or none of this size.
    batchSize = Math.min(batchSize, Math.max(1, Math.floor(batch.length / 2)))
    for (const asked of left) send([asked])
  }

  const send = (batch: readonly PendingCall[]): void => {
    const [first] = batch
    if (first === undefined) return
    const sent = batch.length === 1 ? sendAlone(first) : sendTogether(batch, first)
    sent.catch((error: unknown) => {
      for (const { reject } of batch) reject(error)
    })
  }

  const flush = (): void => {
    const gathered = waiting
    waiting = []
    for (const batch of cut(gathered, batchSize)) send(batch)
  }

  const ask = (method: string, params: unknown): Promise<unknown> =>
    new Promise((resolve, reject) => {
      lastId += 1
      const json = JSON.stringify({ jsonrpc: '2.0', id: lastId, method, params })
      const asked = { id: lastId, json, deadlineAt: performance.now() + timeoutMs, resolve, reject }
      if (json.length >= unbatchedLength) {
        send([asked])
        return
      }
      // Not before everything that arrived together with this has had its turn.
      if (waiting.length === 0) setImmediate(flush)
      waiting.push(asked)
    })

  return { host, request: async (method, params, schema) => schema.parse(await ask(method, params)) }
}

const remainingMs = ({ deadlineAt }: PendingCall): number =>
  Math.max(1, Math.ceil(deadlineAt - performance.now()))

const cut = (asked: readonly PendingCall[], batchSize: number): readonly (readonly PendingCall[])[] =>
  Array.from({ length: Math.ceil(asked.length / batchSize) }, (_, index) =>
    asked.slice(index * batchSize, (index + 1) * batchSize),
  )
