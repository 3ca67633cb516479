import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

/** What happens to the calls of a method. */
export type Fault =
  /** Nothing: the call is forwarded and answered. */
  | { readonly kind: 'pass' }
  /** The call is forwarded after a pause. */
  | { readonly kind: 'delay'; readonly milliseconds: number }
  /** The call is never forwarded and never answered. */
  | { readonly kind: 'hang' }
  /** The connection is reset before the call is forwarded. */
  | { readonly kind: 'refuse' }
  /** The call is not forwarded and answered with an error. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string }
  /** The HTTP request is not forwarded and answered with this status and no JSON, as by a gateway. */
  | { readonly kind: 'status'; readonly status: number }
  /** The call is forwarded, and its answer is lost: the connection is reset, or stays silent. */
  | { readonly kind: 'loseAnswer'; readonly connection?: 'reset' | 'silent' }
  /** The call is forwarded and its result is replaced. */
  | { readonly kind: 'tamper'; readonly change: (result: unknown, params: readonly unknown[]) => unknown }
  /** The call is forwarded with other parameters. */
  | { readonly kind: 'rewrite'; readonly change: (params: readonly unknown[]) => readonly unknown[] }

/** A call that the proxy saw. */
export interface SeenCall {
  /** The JSON-RPC method, or the path of a request that is no JSON-RPC. */
  readonly method: string
  /** Named parameters, or the body of a request that is no JSON-RPC, stand as the only one. */
  readonly params: readonly unknown[]
  /** Whether it came in a batch. */
  readonly isBatched: boolean
}

/** A proxy in front of a node that fails on demand, by JSON-RPC method or by path. */
export interface RpcProxy {
  readonly url: string
  /** Every call seen so far, in order. */
  readonly calls: readonly SeenCall[]
  /** HTTP requests seen so far; a batch is one. */
  readonly requestCount: number
  /** Sets what happens to a method, or to every method without a fault of its own (`*`), until it is changed. */
  setFault(method: string, fault: Fault, options?: { readonly times?: number }): void
  /** Ends all faults; calls that hang go on hanging. */
  clearFaults(): void
  /** How many calls of a method were seen. */
  count(method: string): number
  /** Forgets the calls seen so far. */
  clearCalls(): void
  /** Resets every connection and ends the proxy. */
  stop(): Promise<void>
}

const callSchema = z.looseObject({
  id: z.unknown().optional(),
  method: z.string(),
  params: z.union([z.array(z.unknown()), z.looseObject({})]).optional(),
})

/** A question to the node behind the proxy, whichever way it is asked. */
interface Call {
  readonly method: string
  readonly params: readonly unknown[]
  /** Forwards it, with other parameters if told; answers the whole body that came back. */
  ask(params?: readonly unknown[]): Promise<unknown>
  /** The same body with another result inside. */
  replaceResult(answer: unknown, change: (result: unknown) => unknown): unknown
  refuse(code: number, message: string): unknown
}

const answerSchema = z.looseObject({ id: z.unknown().optional(), result: z.unknown().optional() })

interface ActiveFault {
  readonly fault: Fault
  remaining: number
}

const readBody = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

const forward = async (
  target: string,
  { method, headers }: IncomingMessage,
  body: string,
): Promise<unknown> => {
  const { 'content-type': contentType = 'application/json' } = headers
  const response = await fetch(target, {
    method: method ?? 'POST',
    headers: { 'content-type': contentType },
    ...(method === 'GET' ? {} : { body }),
  })
  return response.json()
}

/** The calls of a JSON-RPC request, one or a batch; null when it is none. */
const readJsonRpc = (body: string): readonly z.infer<typeof callSchema>[] | null => {
  const parsed = z.union([callSchema, z.array(callSchema)]).safeParse(body === '' ? null : JSON.parse(body))
  return parsed.success ? [parsed.data].flat() : null
}

const toJsonRpcCall = (target: string, request: IncomingMessage, call: z.infer<typeof callSchema>): Call => {
  const { params = [] } = call
  const isNamed = !Array.isArray(params)
  return {
    method: call.method,
    params: isNamed ? [params] : params,
    ask: async (changed) => {
      const asked = changed === undefined ? call : { ...call, params: isNamed ? changed[0] : changed }
      return answerSchema.parse(await forward(target, request, JSON.stringify(asked)))
    },
    replaceResult: (answer, change) => {
      const parsed = answerSchema.parse(answer)
      return 'result' in parsed ? { ...parsed, result: change(parsed.result) } : parsed
    },
    refuse: (code, message) => ({ jsonrpc: '2.0', id: call.id, error: { code, message } }),
  }
}

const toPathCall = (target: string, request: IncomingMessage, body: string): Call => {
  const { pathname, search } = new URL(request.url ?? '/', target)
  const asked: unknown = body === '' ? {} : JSON.parse(body)
  const url = `${target.replace(/\/$/, '')}${pathname}${search}`
  return {
    method: pathname,
    params: [asked],
    ask: (changed) => forward(url, request, changed === undefined ? body : JSON.stringify(changed[0])),
    replaceResult: (answer, change) => change(answer),
    refuse: (_code, message) => ({ Error: message }),
  }
}

/** Answers a call, or says that the whole connection must be treated otherwise. */
type Reply =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'status'; readonly status: number }

const answerCall = async (call: Call, fault: Fault): Promise<Reply> => {
  const { ask } = call
  switch (fault.kind) {
    case 'pass':
      return { kind: 'answer', answer: await ask() }
    case 'delay':
      await sleep(fault.milliseconds)
      return { kind: 'answer', answer: await ask() }
    case 'hang':
      return { kind: 'hang' }
    case 'refuse':
      return { kind: 'reset' }
    case 'status':
      return { kind: 'status', status: fault.status }
    case 'error':
      return { kind: 'answer', answer: call.refuse(fault.code, fault.message) }
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

/** One HTTP answer for all replies of a request; what ends the connection outweighs the other replies. */
const sendReplies = (response: ServerResponse, replies: readonly Reply[], isBatched: boolean): void => {
  const answers: unknown[] = []
  for (const reply of replies) {
    if (reply.kind === 'hang') return
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

/** Starts a proxy in front of the node at the URL; it passes everything until it is told otherwise. */
export const startRpcProxy = async (target: string): Promise<RpcProxy> => {
  const faults = new Map<string, ActiveFault>()
  const calls: SeenCall[] = []
  let requestCount = 0

  const takeFault = (method: string): Fault => {
    const key = faults.has(method) ? method : '*'
    const active = faults.get(key)
    if (active === undefined) return { kind: 'pass' }
    active.remaining -= 1
    if (active.remaining === 0) faults.delete(key)
    return active.fault
  }

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await readBody(request)
    const requested = readJsonRpc(body)
    const isBatched = requested !== null && body.trimStart().startsWith('[')
    const asked =
      requested === null
        ? [toPathCall(target, request, body)]
        : requested.map((call) => toJsonRpcCall(target, request, call))
    requestCount += 1
    const planned = asked.map((call) => {
      const { method, params } = call
      calls.push({ method, params, isBatched })
      return { call, fault: takeFault(method) }
    })
    const replies = await Promise.all(planned.map(({ call, fault }) => answerCall(call, fault)))
    sendReplies(response, replies, isBatched)
  }

  const server = createServer((request, response) => {
    // A body that cannot be read or a target that is gone is a dead connection for the client.
    serve(request, response).catch(() => response.socket?.resetAndDestroy())
  })
  // A proxy that nobody stops must not keep the process alive.
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('The proxy has no port')

  return {
    url: `http://127.0.0.1:${bound.port}`,
    calls,
    get requestCount() {
      return requestCount
    },
    setFault: (method, fault, { times = Number.POSITIVE_INFINITY } = {}) => {
      faults.set(method, { fault, remaining: times })
    },
    clearFaults: () => faults.clear(),
    count: (method) => calls.filter((call) => call.method === method).length,
    clearCalls: () => {
      calls.length = 0
      requestCount = 0
    },
    stop: async () => {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
