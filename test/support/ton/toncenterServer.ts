import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { listenOnLoopback } from '../listenOnLoopback.js'
import { ApiError, type ToncenterApi } from './toncenterApi.js'

interface ToncenterServer {
  /** JSON-RPC endpoint. */
  readonly url: string
  stop(): Promise<void>
}

const request = z.object({ id: z.unknown().optional(), method: z.string(), params: z.unknown().optional() })

/** No batches; errors are a string beside `ok: false`. */
export const startToncenterServer = async (api: ToncenterApi): Promise<ToncenterServer> => {
  const answer = async (posted: string): Promise<{ readonly status: number; readonly json: object }> => {
    const asked = request.safeParse(JSON.parse(posted))
    const id = asked.success ? asked.data.id : null
    try {
      if (!asked.success) throw new ApiError(422, 'a request has a method')
      const result = await api(asked.data.method, asked.data.params ?? {})
      return { status: 200, json: { ok: true, result, jsonrpc: '2.0', id } }
    } catch (error) {
      const status = error instanceof ApiError ? error.status : 500
      return { status, json: { ok: false, error: String(error), code: status, jsonrpc: '2.0', id } }
    }
  }

  const server = createServer((incoming, response) => {
    text(incoming)
      .then(answer)
      .then(({ status, json }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
      })
      .catch(() => response.socket?.resetAndDestroy())
  })
  const { url, stop } = await listenOnLoopback(server)
  return { url: `${url}/api/v2/jsonRPC`, stop }
}
