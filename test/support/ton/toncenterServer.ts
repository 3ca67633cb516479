import { createServer, type IncomingMessage } from 'node:http'
import { z } from 'zod'
import { ApiError, type ToncenterApi } from './toncenterApi.js'

interface ToncenterServer {
  /** JSON-RPC endpoint. */
  readonly url: string
  stop(): Promise<void>
}

const request = z.object({ id: z.unknown().optional(), method: z.string(), params: z.unknown().optional() })

const readText = async (incoming: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}

/** No batches; errors are a string beside `ok: false`. */
export const startToncenterServer = async (api: ToncenterApi): Promise<ToncenterServer> => {
  const answer = async (text: string): Promise<{ readonly status: number; readonly json: object }> => {
    const asked = request.safeParse(JSON.parse(text))
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
    readText(incoming)
      .then(answer)
      .then(({ status, json }) => {
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json))
      })
      .catch(() => response.socket?.resetAndDestroy())
  })
  // Does not keep the process alive.
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port')
  return {
    url: `http://127.0.0.1:${bound.port}/api/v2/jsonRPC`,
    stop: async () => {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
