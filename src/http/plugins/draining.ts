import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fastifyPlugin from 'fastify-plugin'
import { AppError } from '../../errors.js'
import { whenEnded } from '../ending.js'
import { sendError } from '../errors.js'

/** How long a request may still take to arrive once the server closes. */
const arrivalMs = 3_000

const isRestarting = new AppError('SERVICE_UNAVAILABLE', 'The service is restarting', {
  retryAfterSeconds: 1,
})

/**
 * Ends the service in good order: what is being worked on is answered, everything else is sent elsewhere, and
 * no connection keeps the process. Node leaves alone what it closes late: connections that never sent a
 * request, those whose request is half there, and those that turn idle after the close began.
 */
export const draining = fastifyPlugin(
  (app, _options, done) => {
    const sockets = new Set<Socket>()
    const answers = new Set<ServerResponse>()
    let isClosing = false

    app.server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
    app.addHook('onRequest', (_request, reply, next) => {
      answers.add(reply.raw)
      whenEnded(reply, () => answers.delete(reply.raw))
      if (isClosing) {
        reply.raw.shouldKeepAlive = false
        sendError(reply, isRestarting)
      } else next()
    })

    const closeOthers = (): void => {
      const busy = new Set([...answers].filter(({ req }) => req.complete).map(({ req }) => req.socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.destroy()
    }
    app.addHook('preClose', async () => {
      isClosing = true
      for (const answer of answers) answer.shouldKeepAlive = false
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
      const timer = setTimeout(closeOthers, arrivalMs)
      app.server.once('close', () => clearTimeout(timer))
    })
    done()
  },
  { name: 'draining' },
)
