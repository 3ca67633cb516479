import { connect, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export const listen = async (app: FastifyInstance): Promise<number> => {
  await app.listen({ host: '127.0.0.1', port: 0 })
  const address = app.server.address()
  if (address === null || typeof address === 'string') throw new Error('The server has no port')
  return address.port
}

export const open = async (port: number): Promise<Socket> =>
  await new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket))
    socket.once('error', reject)
  })

export const readAll = (socket: Socket): Promise<string> => {
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
  // A reset after the response counts as end.
  socket.on('error', () => {})
  return new Promise((resolve) => socket.once('close', () => resolve(Buffer.concat(chunks).toString('utf8'))))
}

export const deferred = <Value>() => {
  let resolve: (value: Value) => void = () => {}
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}

export const countConnections = async (app: FastifyInstance): Promise<number> =>
  await new Promise((resolve) => app.server.getConnections((_error, count) => resolve(count)))
