import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { WebSocketServer } from 'ws'
import { z } from 'zod'
import { listenOnLoopback } from '../listenOnLoopback.js'

type Send = (message: unknown) => void

/** Answers a request; `send` pushes notifications to the socket that asked. */
export type AnswerCall = (method: string, params: readonly unknown[], send: Send) => Promise<unknown>

export interface RpcServer {
  readonly url: string
  readonly webSocketUrl: string
  stop(): Promise<void>
}

const callShape = z.object({
  id: z.union([z.string(), z.number(), z.null()]).default(null),
  method: z.string(),
  params: z.array(z.unknown()).default([]),
})

const errorShape = z.object({ code: z.number(), message: z.string() })

/** JSON-RPC 2.0 by HTTP, with batches, and by websocket, on one loopback port. */
export const startRpcServer = async (answer: AnswerCall): Promise<RpcServer> => {
  const complete = async (json: unknown, send: Send): Promise<unknown> => {
    const { id, method, params } = callShape.parse(json)
    try {
      return { jsonrpc: '2.0', id, result: await answer(method, params, send) }
    } catch (error) {
      const known = errorShape.safeParse(error)
      const { code, message } = known.success ? known.data : { code: -32_603, message: String(error) }
      return { jsonrpc: '2.0', id, error: { code, message } }
    }
  }
  const server = createServer(async (request, response) => {
    const json: unknown = JSON.parse(await text(request))
    const refuse: Send = () => undefined
    const answered = Array.isArray(json)
      ? await Promise.all(json.map((each) => complete(each, refuse)))
      : await complete(json, refuse)
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answered))
  })
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    const send: Send = (message) => socket.send(JSON.stringify(message))
    socket.on('message', async (data) => send(await complete(JSON.parse(String(data)), send)))
  })
  const { url, stop } = await listenOnLoopback(server)
  return {
    url,
    webSocketUrl: url.replace('http:', 'ws:'),
    stop: async () => {
      for (const socket of sockets.clients) socket.terminate()
      sockets.close()
      await stop()
    },
  }
}
