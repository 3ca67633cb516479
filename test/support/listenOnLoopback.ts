import type { Server } from 'node:http'

export interface LoopbackServer {
  readonly url: string
  /** Ends open connections too. */
  stop(): Promise<void>
}

/** On a random port. Does not keep the process alive. */
export const listenOnLoopback = async (server: Server): Promise<LoopbackServer> => {
  server.unref()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const bound = server.address()
  if (bound === null || typeof bound === 'string') throw new Error('The server has no port')
  return {
    url: `http://127.0.0.1:${bound.port}`,
    stop: async () => {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
