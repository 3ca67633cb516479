import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../errors.js'
import { sendError } from '../errors.js'
import { onResponseEnd } from '../reply.js'

/** Time for a partly received request to arrive after shutdown began. */
const maxArrivalMs = 3_000

const restartingError = new AppError('SERVICE_UNAVAILABLE', 'The service is restarting', {
  retryAfterSeconds: 1,
})

/** Completes requests in progress, rejects new ones with 503, closes all sockets (`server.close` leaves some). */
export const gracefulShutdown = fastifyPlugin(
  (app, _options, done) => {
    const sockets = new Set<Socket>()
    const responses = new Set<ServerResponse>()
    let isClosing = false

    app.server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    app.addHook('onRequest', (_request, reply, next) => {
      responses.add(reply.raw)
      onResponseEnd(reply, () => responses.delete(reply.raw))
      if (isClosing) {
        reply.raw.shouldKeepAlive = false
        sendError(reply, restartingError)
      } else next()
    })

    const closeUnansweredSockets = (): void => {
      const busy = new Set([...responses].filter(({ req }) => req.complete).map(({ req }) => req.socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.destroy()
    }
    app.addHook('preClose', async () => {
      isClosing = true
      for (const response of responses) response.shouldKeepAlive = false
      // One that is paused waits for its turn to be read, and may have sent a request.
      for (const socket of sockets) if (socket.bytesRead === 0 && !socket.isPaused()) socket.destroy()
      const timer = setTimeout(closeUnansweredSockets, maxArrivalMs)
      app.server.once('close', () => clearTimeout(timer))
    })
    done()
  },
  { name: 'gracefulShutdown' },
)
