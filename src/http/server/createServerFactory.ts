import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http'
import { createClientAddresses } from './clientAddresses.js'
import { createRequestsInFlight } from './requestsInFlight.js'

export interface ServerSettings {
  readonly trustProxy: readonly string[]
  /** 0: no cap. */
  readonly maxRequestsPerAddress: number
  readonly unreadTimeoutMs: number
  readonly http: ServerOptions
  readonly requestTimeout: number
  readonly keepAliveTimeout: number
  readonly connectionTimeout: number
}

/** For Fastify's `serverFactory`: requests and connections are bounded before Fastify sees them. */
export const createServerFactory = (settings: ServerSettings): ((handler: RequestListener) => Server) => {
  const requests = createRequestsInFlight({
    maxPerAddress: settings.maxRequestsPerAddress,
    unreadTimeoutMs: settings.unreadTimeoutMs,
    addresses: createClientAddresses(settings.trustProxy),
  })
  return (handler) => {
    const server = createServer(settings.http, requests.bound(handler))
    requests.watch(server)
    // Fastify sets these only on servers that it creates itself.
    server.keepAliveTimeout = settings.keepAliveTimeout
    server.requestTimeout = settings.requestTimeout
    server.setTimeout(settings.connectionTimeout)
    return server
  }
}
