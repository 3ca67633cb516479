import fastifyCors from '@fastify/cors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False: the library must not modify the responses of this route. */
    cors?: false
  }
}

const requestHeaders = [
  'Content-Type',
  'Authorization',
  'X-API-Key',
  'Idempotency-Key',
  'X-Stream-Token',
  'X-Intent-Token',
  'X-Request-ID',
  'PAYMENT-SIGNATURE',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT',
  'X-PAYMENT-RESPONSE',
]

const exposedHeaders = [
  'X-Request-ID',
  'X-Idempotency-Replayed',
  'EXTENSION-RESPONSES',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Tier',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
]

const methods = ['GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS']
const maxAgeSeconds = 86_400

const exposed = { 'access-control-expose-headers': exposedHeaders.join(', ') }
const readable = { 'access-control-allow-origin': '*', ...exposed }
const preflight = {
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': requestHeaders.join(', '),
  'access-control-max-age': String(maxAgeSeconds),
}

interface CorsOptions {
  /** As browsers send them in `Origin`. */
  readonly accountOrigins: readonly string[]
}

/**
 * Any origin may call the payment API: callers authenticate by a header that browsers never add themselves. Account
 * routes hand out keys without a secret, or trust a network position: listed origins only.
 */
export const cors = fastifyPlugin<CorsOptions>(
  async (app, { accountOrigins }) => {
    const origins = new Set(accountOrigins)
    const allowListed = (request: FastifyRequest, reply: FastifyReply): boolean => {
      const { origin } = request.headers
      reply.header('vary', 'Origin')
      if (origin === undefined || !origins.has(origin)) return false
      reply.headers({ 'access-control-allow-origin': origin, ...exposed })
      return true
    }

    app.addHook('onRoute', (route) => {
      if (route.method === 'OPTIONS' && route.url === '*')
        route.config = { ...route.config, access: 'public' }
      if (route.method === 'POST' || isAccountRoute(route.url, route.method))
        route.config = { ...route.config, cors: false }
    })
    app.addHook('onRequest', (request, reply, next) => {
      if (request.method !== 'OPTIONS' || !isAccountRoute(readPath(request.url), request.method)) {
        next()
        return
      }
      if (allowListed(request, reply)) reply.headers(preflight)
      reply.code(204).header('content-length', '0').send()
    })
    await app.register(fastifyCors, {
      origin: '*',
      methods,
      allowedHeaders: requestHeaders.join(', '),
      exposedHeaders: exposedHeaders.join(', '),
      maxAge: maxAgeSeconds,
      // Non-preflight OPTIONS requests get a normal response instead of the plugin's error.
      strictPreflight: false,
    })
    // POST responses are not cached, so only requests with an Origin need headers: the plugin costs microseconds.
    app.addHook('onRequest', (request, reply, next) => {
      if (request.headers.origin !== undefined) {
        if (isAccountRoute(request.routeOptions.url ?? readPath(request.url), request.method)) {
          // The plugin has already added headers for unrouted paths and methods.
          for (const name of Object.keys(readable)) reply.removeHeader(name)
          allowListed(request, reply)
        } else if (request.method === 'POST') reply.headers(readable)
      }
      next()
    })
  },
  { name: 'cors' },
)

const isAccountRoute = (path: string, method: string | readonly string[]): boolean =>
  accountPaths.includes(path) ||
  path.startsWith('/dashboard/') ||
  // A preflight has no route whose names it could match.
  path.startsWith('/v1/channels') ||
  path.startsWith('/v1/payments') ||
  // GET lists the intents of an account; POST creates one, also without a key.
  (path === '/v1/intent' && readMethods.some((each) => method === each || method.includes(each)))

const readMethods: readonly string[] = ['GET', 'HEAD']

const accountPaths: readonly string[] = [
  '/register',
  '/lookup',
  '/v1/events',
  '/v1/stream',
  '/v1/captures',
  '/v1/voids',
  '/v1/refunds',
  '/v1/hold-defaults',
]

const readPath = (url: string): string => {
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
