import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { z } from 'zod'
import { listenOnLoopback } from './listenOnLoopback.js'

/**
 * The time-out of services on local chains, for their `*_RPC_TIMEOUT_MS`: longer than a busy machine needs for anything.
 * What hangs is ended by the proxy instead.
 */
export const patientTimeoutMs = '60000'

// Longer than a service waits for its first endpoint before it asks another one.
const silenceMs = 2_000

/** Behavior of a method. */
export type Fault =
  | { readonly kind: 'pass' }
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** Forwarded once this is resolved; calls with other params pass. */
  | {
      readonly kind: 'hold'
      readonly until: Promise<void>
      readonly isHeld: (params: readonly unknown[]) => boolean
    }
  /** No response; the connection is reset after two seconds. */
  | { readonly kind: 'hang' }
  /** No response until the proxy stops. */
  | { readonly kind: 'silence' }
  /** The same for some params; other calls pass. */
  | { readonly kind: 'silenceFor'; readonly isSilent: (params: readonly unknown[]) => boolean }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** An error for some params; other calls pass. */
  | { readonly kind: 'errorFor'; readonly findError: (params: readonly unknown[]) => string | null }
  /** HTTP status with an HTML body, as from a gateway; not forwarded. */
  | { readonly kind: 'status'; readonly status: number }
  /** Forwarded, response lost: connection reset or silent. */
  | { readonly kind: 'loseAnswer'; readonly connection?: 'reset' | 'silent' }
  | { readonly kind: 'tamper'; readonly change: (result: unknown, params: readonly unknown[]) => unknown }
  | { readonly kind: 'rewrite'; readonly change: (params: readonly unknown[]) => readonly unknown[] }

export interface SeenCall {
  /** JSON-RPC method, or the path of other requests. */
  readonly method: string
  /** Named parameters and bodies of other requests are the only element. */
  readonly params: readonly unknown[]
  readonly isBatched: boolean
  /** Number of the HTTP request that it came in. */
  readonly request: number
}

/** A proxy to a node, with faults by JSON-RPC method or path. */
export interface RpcProxy {
  readonly url: string
  /** In order. */
  readonly calls: readonly SeenCall[]
  /** HTTP requests; a batch counts as one. */
  readonly requestCount: number
  /** Sets the fault of a method, or with `*` of all methods without their own, until changed. */
  setFault(method: string, fault: Fault, options?: { readonly times?: number }): void
  /** Calls of a method, by default with any params, wait until the returned function is called. */
  hold(method: string, isHeld?: (params: readonly unknown[]) => boolean): () => void
  /** Calls that hang are still not answered. */
  clearFaults(): void
  /** Resolves when no call hangs any more. */
  waitForHangingCalls(): Promise<void>
  count(method: string): number
  clearCalls(): void
  stop(): Promise<void>
}

const callSchema = z.looseObject({
  id: z.unknown().optional(),
  method: z.string(),
  params: z.union([z.array(z.unknown()), z.looseObject({})]).optional(),
})

interface Call {
  readonly method: string
  readonly params: readonly unknown[]
  /** Forwards the call and returns the whole response body. */
  ask(params?: readonly unknown[]): Promise<unknown>
  /** Returns the response body with another result. */
  replaceResult(answer: unknown, change: (result: unknown) => unknown): unknown
  refuse(code: number, message: string): unknown
}

const answerSchema = z.looseObject({ id: z.unknown().optional(), result: z.unknown().optional() })

interface ActiveFault {
  readonly fault: Fault
  remaining: number
}

/** Not by `fetch`, which takes three times the processor time for a call of a local node. */
const send = async (target: string, { method, headers }: IncomingMessage, body: string) => {
  const { 'content-type': contentType = 'application/json' } = headers
  const answer = await request(target, {
    method: method === 'GET' ? 'GET' : 'POST',
    headers: { 'content-type': contentType },
    ...(method === 'GET' ? {} : { body }),
  })
  return answer.body
}

const forward = async (target: string, asker: IncomingMessage, body: string): Promise<unknown> =>
  (await send(target, asker, body)).json()

const readJsonRpc = (body: string): readonly z.infer<typeof callSchema>[] | null => {
  const parsed = z.union([callSchema, z.array(callSchema)]).safeParse(body === '' ? null : JSON.parse(body))
  return parsed.success ? [parsed.data].flat() : null
}

const toJsonRpcCall = (target: string, asker: IncomingMessage, call: z.infer<typeof callSchema>): Call => {
  const { params = [] } = call
  const isNamed = !Array.isArray(params)
  return {
    method: call.method,
    params: isNamed ? [params] : params,
    ask: async (changed) => {
      const asked = changed === undefined ? call : { ...call, params: isNamed ? changed[0] : changed }
      return answerSchema.parse(await forward(target, asker, JSON.stringify(asked)))
    },
    replaceResult: (answer, change) => {
      const parsed = answerSchema.parse(answer)
      return 'result' in parsed ? { ...parsed, result: change(parsed.result) } : parsed
    },
    refuse: (code, message) => ({ jsonrpc: '2.0', id: call.id, error: { code, message } }),
  }
}

const addPath = (target: string, { url = '/' }: IncomingMessage) => {
  const { pathname, search } = new URL(url, target)
  return { pathname, url: `${target.replace(/\/$/, '')}${pathname}${search}` }
}

const toPathCall = (target: string, asker: IncomingMessage, body: string): Call => {
  const { pathname, url } = addPath(target, asker)
  const asked: unknown = body === '' ? {} : JSON.parse(body)
  return {
    method: pathname,
    params: [asked],
    ask: (changed) => forward(url, asker, changed === undefined ? body : JSON.stringify(changed[0])),
    replaceResult: (answer, change) => change(answer),
    refuse: (_code, message) => ({ Error: message }),
  }
}

/** A response to one call, or an effect on the whole connection. */
type Reply =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'hang' }
  | { readonly kind: 'silence' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'status'; readonly status: number }

const answerCall = async (call: Call, fault: Fault): Promise<Reply> => {
  const { ask } = call
  switch (fault.kind) {
    case 'pass':
    case 'silenceFor':
      return { kind: 'answer', answer: await ask() }
    case 'delay':
      await sleep(fault.milliseconds)
      return { kind: 'answer', answer: await ask() }
    case 'hold':
      if (fault.isHeld(call.params)) await fault.until
      return { kind: 'answer', answer: await ask() }
    case 'hang':
      return { kind: 'hang' }
    case 'silence':
      return { kind: 'silence' }
    case 'refuse':
      return { kind: 'reset' }
    case 'status':
      return { kind: 'status', status: fault.status }
    case 'error':
      return { kind: 'answer', answer: call.refuse(fault.code, fault.message) }
    case 'errorFor': {
      const message = fault.findError(call.params)
      return { kind: 'answer', answer: message === null ? await ask() : call.refuse(-32_000, message) }
    }
    case 'loseAnswer':
      await ask()
      return { kind: fault.connection === 'silent' ? 'hang' : 'reset' }
    case 'rewrite':
      return { kind: 'answer', answer: await ask(fault.change(call.params)) }
    case 'tamper': {
      const { change } = fault
      const answer = call.replaceResult(await ask(), (result) => change(result, call.params))
      return { kind: 'answer', answer }
    }
  }
}

const hangs = (fault: Fault): boolean =>
  fault.kind === 'hang' ||
  fault.kind === 'silence' ||
  (fault.kind === 'loseAnswer' && fault.connection === 'silent')

/** One HTTP response per request; effects on the connection take precedence. */
const sendReplies = (response: ServerResponse, replies: readonly Reply[], isBatched: boolean): void => {
  const answers: unknown[] = []
  for (const reply of replies) {
    if (reply.kind === 'hang') {
      const silence = setTimeout(() => response.socket?.resetAndDestroy(), silenceMs)
      response.once('close', () => clearTimeout(silence))
      return
    }
    if (reply.kind === 'silence') return
    if (reply.kind === 'reset') {
      response.socket?.resetAndDestroy()
      return
    }
    if (reply.kind === 'status') {
      response.writeHead(reply.status, { 'content-type': 'text/html' }).end('<html>gateway</html>')
      return
    }
    answers.push(reply.answer)
  }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify(isBatched ? answers : answers[0]))
}

export const startRpcProxy = async (target: string): Promise<RpcProxy> => {
  const faults = new Map<string, ActiveFault>()
  const calls: SeenCall[] = []
  const hanging = new Set<ServerResponse>()
  let requestCount = 0

  const takeFault = (method: string): Fault => {
    const key = faults.has(method) ? method : '*'
    const active = faults.get(key)
    if (active === undefined) return { kind: 'pass' }
    active.remaining -= 1
    if (active.remaining === 0) faults.delete(key)
    return active.fault
  }

  const serve = async (asker: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await text(asker)
    const requested = readJsonRpc(body)
    const isBatched = requested !== null && body.trimStart().startsWith('[')
    const asked =
      requested === null
        ? [toPathCall(target, asker, body)]
        : requested.map((call) => toJsonRpcCall(target, asker, call))
    requestCount += 1
    const planned = asked.map((call) => {
      const { method, params } = call
      calls.push({ method, params, isBatched, request: requestCount })
      const fault = takeFault(method)
      if (fault.kind !== 'silenceFor') return { call, fault }
      return { call, fault: { kind: fault.isSilent(params) ? 'silence' : 'pass' } as const }
    })
    if (planned.every(({ fault }) => fault.kind === 'pass')) {
      // As it is, a batch in one request: most calls of a test, and each copy of a call takes processor time.
      const url = requested === null ? addPath(target, asker).url : target
      const answer = await send(url, asker, body)
      response.writeHead(200, { 'content-type': 'application/json' }).end(await answer.bytes())
      return
    }
    if (planned.some(({ fault }) => hangs(fault))) {
      hanging.add(response)
      response.once('close', () => hanging.delete(response))
    }
    const replies = await Promise.all(planned.map(({ call, fault }) => answerCall(call, fault)))
    sendReplies(response, replies, isBatched)
  }

  const server = createServer((asker, response) => {
    // Invalid bodies and unreachable targets reset the connection.
    serve(asker, response).catch(() => response.socket?.resetAndDestroy())
  })
  const { url, stop } = await listenOnLoopback(server)

  return {
    url,
    calls,
    get requestCount() {
      return requestCount
    },
    setFault: (method, fault, { times = Number.POSITIVE_INFINITY } = {}) => {
      faults.set(method, { fault, remaining: times })
    },
    hold: (method, isHeld = () => true) => {
      let release: () => void = () => undefined
      const until = new Promise<void>((resolve) => {
        release = resolve
      })
      const fault = { kind: 'hold', until, isHeld } as const
      faults.set(method, { fault, remaining: Number.POSITIVE_INFINITY })
      return release
    },
    clearFaults: () => faults.clear(),
    waitForHangingCalls: async () => {
      await Promise.all([...hanging].map((response) => once(response, 'close')))
    },
    count: (method) => calls.filter((call) => call.method === method).length,
    clearCalls: () => {
      calls.length = 0
      requestCount = 0
    },
    stop,
  }
}
