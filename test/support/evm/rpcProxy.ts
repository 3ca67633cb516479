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
  readonly method: string
  readonly params: readonly unknown[]
  /** Whether it came in a batch. */
  readonly isBatched: boolean
}

/** A JSON-RPC proxy that fails on demand. */
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
  params: z.array(z.unknown()).optional(),
})
type Call = z.infer<typeof callSchema>

const answerSchema = z.looseObject({ id: z.unknown().optional(), result: z.unknown().optional() })
type Answer = z.infer<typeof answerSchema>

interface ActiveFault {
  readonly fault: Fault
  remaining: number
}

const readBody = async (request: IncomingMessage): Promise<unknown> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return JSON.parse(Buffer.concat(chunks).toString('utf8'))
}

const forward = async (target: string, body: unknown): Promise<unknown> => {
  const response = await fetch(target, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return response.json()
}

/** Answers a call, or says that the whole connection must be treated otherwise. */
type Reply =
  | { readonly kind: 'answer'; readonly answer: unknown }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'status'; readonly status: number }

const answerCall = async (target: string, call: Call, fault: Fault): Promise<Reply> => {
  const ask = async (asked = call): Promise<Answer> => answerSchema.parse(await forward(target, asked))
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
    case 'error': {
      const { code, message } = fault
      return { kind: 'answer', answer: { jsonrpc: '2.0', id: call.id, error: { code, message } } }
    }
    case 'loseAnswer':
      await ask()
      return { kind: fault.connection === 'silent' ? 'hang' : 'reset' }
    case 'rewrite':
      return { kind: 'answer', answer: await ask({ ...call, params: [...fault.change(call.params ?? [])] }) }
    case 'tamper': {
      const answer = await ask()
      if (!('result' in answer)) return { kind: 'answer', answer }
      return { kind: 'answer', answer: { ...answer, result: fault.change(answer.result, call.params ?? []) } }
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

/** Starts a proxy in front of the JSON-RPC server at the URL; it passes everything until it is told otherwise. */
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
    const isBatched = Array.isArray(body)
    const requested = z.array(callSchema).parse(isBatched ? body : [body])
    requestCount += 1
    const planned = requested.map((call) => {
      calls.push({ method: call.method, params: call.params ?? [], isBatched })
      return { call, fault: takeFault(call.method) }
    })
    const replies = await Promise.all(planned.map(({ call, fault }) => answerCall(target, call, fault)))
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
