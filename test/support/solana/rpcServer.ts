import { createServer } from 'node:http'
import { json } from 'node:stream/consumers'
import { type WebSocket, WebSocketServer } from 'ws'
import { z } from 'zod'
import { listenOnLoopback } from '../listenOnLoopback.js'
import type { Commitment, Ledger } from './ledger.js'
import { RpcError, type RpcMethod } from './rpcMethods.js'

/** JSON-RPC over HTTP, and signature subscriptions over a websocket on the same port. */
interface RpcServer {
  readonly url: string
  readonly websocketUrl: string
  stop(): Promise<void>
}

const request = z.looseObject({
  id: z.unknown(),
  method: z.string(),
  params: z.array(z.unknown()).optional(),
})
const commitment = z
  .looseObject({ commitment: z.enum(['processed', 'confirmed', 'finalized']).optional() })
  .default({})

interface Subscription {
  readonly socket: WebSocket
  readonly signature: string
  readonly level: Commitment
}

const noticeMs = 20

export const startRpcServer = async (
  methods: Readonly<Record<string, RpcMethod>>,
  ledger: Ledger,
): Promise<RpcServer> => {
  const answer = (body: unknown): unknown => {
    const { id, method, params = [] } = request.parse(body)
    try {
      ledger.advance()
      const run = methods[method]
      if (run === undefined) throw new RpcError(-32601, 'Method not found')
      return { jsonrpc: '2.0', id, result: run(params) }
    } catch (error) {
      const isOwn = error instanceof RpcError
      const message = error instanceof Error ? error.message : String(error)
      const data = isOwn && error.data !== undefined ? { data: error.data } : {}
      return { jsonrpc: '2.0', id, error: { code: isOwn ? error.code : -32_602, message, ...data } }
    }
  }

  const server = createServer((incoming, response) => {
    json(incoming)
      .then((body) => (Array.isArray(body) ? body.map(answer) : answer(body)))
      .then((answered) =>
        response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered)),
      )
      .catch(() => response.writeHead(400).end())
  })
  const { url, stop } = await listenOnLoopback(server)

  const subscriptions = new Map<number, Subscription>()
  let lastSubscription = 0
  const notify = () => {
    ledger.advance()
    for (const [id, { socket, signature, level }] of subscriptions) {
      const landed = ledger.find(signature)
      if (landed === null || landed.slot > ledger.slotAt(level)) continue
      subscriptions.delete(id)
      const result = { context: { slot: Number(landed.slot) }, value: { err: landed.error } }
      socket.send(
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'signatureNotification',
          params: { result, subscription: id },
        }),
      )
    }
  }
  const timer = setInterval(notify, noticeMs)
  timer.unref()

  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    socket.on('message', (text) => {
      const { id, method, params = [] } = request.parse(JSON.parse(String(text)))
      let result: unknown = true
      if (method === 'signatureSubscribe') {
        lastSubscription += 1
        const level = commitment.parse(params[1] ?? {}).commitment ?? 'finalized'
        subscriptions.set(lastSubscription, { socket, signature: z.string().parse(params[0]), level })
        result = lastSubscription
      }
      if (method === 'signatureUnsubscribe') subscriptions.delete(z.number().parse(params[0]))
      socket.send(JSON.stringify({ jsonrpc: '2.0', id, result }))
    })
    socket.on('close', () => {
      for (const [id, each] of subscriptions) if (each.socket === socket) subscriptions.delete(id)
    })
  })

  return {
    url,
    websocketUrl: url.replace('http:', 'ws:'),
    stop: async () => {
      clearInterval(timer)
      for (const client of sockets.clients) client.terminate()
      sockets.close()
      await stop()
    },
  }
}
