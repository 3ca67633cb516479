import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../ports/clock.js'
import type { Logger } from '../../ports/logger.js'
import type { AcceptedKeys } from '../auth/presentedKey.js'
import { createOpenConnections } from './openConnections.js'
import { createPace, type PaceOptions } from './pace.js'
import { createClientAddresses } from './readRequest.js'
import { createRefusals } from './refusals.js'
import { createRequestsInFlight } from './requestsInFlight.js'
import { createDelayedRefusals } from './sendRefusal.js'
import type { Turns } from './turns.js'

interface ServerSettings {
  readonly trustProxy: readonly string[]
  /** 0: no cap. */
  readonly maxConnections: number
  readonly maxConnectionsPerAddress: number
  readonly maxRequestsPerAddress: number
  readonly firstByteTimeoutMs: number
  readonly unreadTimeoutMs: number
  readonly refusalDelayMs: number
  readonly acceptedKeys: AcceptedKeys
  readonly turns: Turns
  readonly findRate: PaceOptions['findRate']
  readonly clock: Clock
  readonly logger: Logger
  readonly http: ServerOptions
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly connectionTimeout: number
}

/** For Fastify's `serverFactory`: requests and connections are bounded before Fastify sees them. */
export const createServerFactory = (settings: ServerSettings): ((handler: RequestListener) => Server) => {
  const addresses = createClientAddresses(settings.trustProxy)
  const openConnections = createOpenConnections({ ...settings, addresses })
  const requests = createRequestsInFlight({
    maxPerAddress: settings.maxRequestsPerAddress,
    unreadTimeoutMs: settings.unreadTimeoutMs,
    acceptedKeys: settings.acceptedKeys,
    turns: settings.turns,
    pace: createPace(settings),
    addresses,
    openConnections,
    delayedRefusals: createDelayedRefusals(settings.refusalDelayMs),
    probeDelayMs: settings.refusalDelayMs,
    refusals: createRefusals(settings),
  })
  return (handler) => {
    const listener = requests.bound(handler)
    // Node would answer both itself, without any of the bounds: 3,600 requests of a packet of 64 kB.
    const server = createServer({ ...settings.http, requireHostHeader: false }, listener)
    server.on('checkExpectation', listener)
    acceptInTurn(server, (socket, read) => {
      if (openConnections.accept(socket)) requests.accept(socket, read)
    })
    // Fastify sets these only on servers that it creates itself.
    server.keepAliveTimeout = settings.keepAliveTimeout
    server.requestTimeout = settings.requestTimeout
    server.setTimeout(settings.connectionTimeout)
    return server
  }
}

/** Node reads what a connection sends as soon as it accepts it; here not before `read` is called. */
const acceptInTurn = (
  server: Server & { pauseOnConnect?: boolean },
  accept: (socket: Socket, read: () => void) => void,
): void => {
  const readers = server.listeners('connection')
  server.removeAllListeners('connection')
  server.pauseOnConnect = true
  const ignoreErrors = (): void => undefined
  server.on('connection', (socket: Socket) => {
    socket.on('error', ignoreErrors)
    accept(socket, () => {
      for (const reader of readers) reader.call(server, socket)
      socket.off('error', ignoreErrors).resume()
    })
  })
}
