import { once } from 'node:events'
import { createServer } from 'node:net'

/** Finds a loopback port that is free now; another process may still take it before it is used. */
export async function pickPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No loopback port could be opened.')
  return address.port
}
