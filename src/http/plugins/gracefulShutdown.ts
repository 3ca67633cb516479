import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fastifyPlugin from 'fastify-plugin'
import { sleep } from '../../concurrency/deadline.js'
import { AppError } from '../../errors.js'
import { sendError } from '../errors.js'
import { onResponseEnd } from '../reply.js'

declare module 'fastify' {
  interface FastifyInstance {
    readonly shutdown: Shutdown
  }
}

interface Shutdown {
  /** From then on `/ready` answers 503, so that a load balancer sends no further requests. */
  isAnnounced(): boolean
  /**
   * Announces the shutdown and serves all requests for that long, then with `Connection: close` until clients have left their
   * connections, or for a second. Resolves before, when `skipped` aborts. `close` is due afterwards.
   */
  announce(delayMs: number, skipped: AbortSignal): Promise<void>
}

/** Time for a partly received request to arrive after shutdown began. */
const maxArrivalMs = 3_000

/** Clients that send their next request within it learn from its answer that the connection ends, and none is cut off. */
const maxRetireMs = 1_000

const restartingError = new AppError('SERVICE_UNAVAILABLE', 'The service is restarting', {
  retryAfterSeconds: 1,
})

/** Completes requests in progress, rejects new ones with 503, closes all sockets (`server.close` leaves some). */
export const gracefulShutdown = fastifyPlugin(
  (app, _options, done) => {
    const sockets = new Set<Socket>()
    const responses = new Set<ServerResponse>()
    const retired = new AbortController()
    let phase: 'serving' | 'announced' | 'retiring' | 'closing' = 'serving'

    app.server.on('connection', (socket: Socket) => {
      sockets.add(socket)
      socket.once('close', () => {
        sockets.delete(socket)
        if (phase === 'retiring' && sockets.size === 0) retired.abort()
      })
    })
    app.addHook('onRequest', (_request, reply, next) => {
      responses.add(reply.raw)
      onResponseEnd(reply, () => responses.delete(reply.raw))
      if (phase === 'retiring' || phase === 'closing') reply.raw.shouldKeepAlive = false
      if (phase === 'closing') sendError(reply, restartingError)
      else next()
    })

    const retire = (): void => {
      for (const response of responses) response.shouldKeepAlive = false
    }
    app.decorate('shutdown', {
      isAnnounced: () => phase !== 'serving',
      announce: async (delayMs: number, skipped: AbortSignal) => {
        phase = 'announced'
        if (!(await sleep(delayMs, skipped))) return
        phase = 'retiring'
        retire()
        skipped.addEventListener('abort', () => retired.abort(), { once: true })
        if (sockets.size > 0) await sleep(maxRetireMs, retired.signal)
      },
    })

    const closeUnansweredSockets = (): void => {
      const busy = new Set([...responses].filter(({ req }) => req.complete).map(({ req }) => req.socket))
      for (const socket of sockets) if (!busy.has(socket)) socket.destroy()
    }
    app.addHook('preClose', async () => {
      phase = 'closing'
      retire()
      // One that is paused waits for its turn to be read, and may have sent a request.
      for (const socket of sockets) if (socket.bytesRead === 0 && !socket.isPaused()) socket.destroy()
      const timer = setTimeout(closeUnansweredSockets, maxArrivalMs)
      app.server.once('close', () => clearTimeout(timer))
    })
    done()
  },
  { name: 'gracefulShutdown' },
)
