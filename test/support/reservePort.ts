import { once } from 'node:events'
import { connect, createServer } from 'node:net'

/**
 * A port of 127.0.0.1 that is bound until this process ends, and on which nothing listens: connections are refused. A
 * child may listen on it, again after a restart too, because servers set SO_REUSEADDR; the kernel does
 * not give it to a process that asks for any port.
 */
export const reservePort = async (): Promise<number> => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  // This connection is never closed, so that its accepted end keeps the port bound after the listener is closed.
  const accepted = once(server, 'connection')
  const ends = [connect(address.port, '127.0.0.1'), ...(await accepted)]
  for (const end of ends) {
    end.on('error', () => undefined)
    end.unref()
  }
  server.close()
  return address.port
}
