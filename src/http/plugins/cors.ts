import fastifyCors from '@fastify/cors'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** False where the library is to leave a route's answers alone. */
    cors?: false
  }
}

const requestHeaders = [
  'Content-Type',
  'Authorization',
  'X-API-Key',
  'Idempotency-Key',
  'X-Request-ID',
  'PAYMENT-SIGNATURE',
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT',
  'X-PAYMENT-RESPONSE',
]

const answerHeaders = [
  'X-Request-ID',
  'X-Idempotency-Replayed',
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
  'X-RateLimit-Tier',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
]

const methods = ['GET', 'HEAD', 'POST', 'OPTIONS']
const maxAgeSeconds = 86_400

const exposed = { 'access-control-expose-headers': answerHeaders.join(', ') }
const readable = { 'access-control-allow-origin': '*', ...exposed }
const preflight = {
  'access-control-allow-methods': methods.join(', '),
  'access-control-allow-headers': requestHeaders.join(', '),
  'access-control-max-age': String(maxAgeSeconds),
}

/** What pages may call. */
export interface CorsOptions {
  /** Origins whose pages may call the routes of accounts, as browsers write them. */
  readonly accountOrigins: readonly string[]
}

/**
 * Lets a page of any origin call the payment API: a caller is known by a header that a browser never adds by itself,
 * and cookies play no part. The routes of accounts hand out keys to requests without a secret, or trust a caller by
 * its place in the network, which any page on that machine shares: only pages of listed origins may call them.
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
      if (route.method === 'POST' || isOfAccounts(route.url)) route.config = { ...route.config, cors: false }
    })
    app.addHook('onRequest', (request, reply, next) => {
      if (request.method !== 'OPTIONS' || !isOfAccounts(readPath(request.url))) {
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
      exposedHeaders: answerHeaders.join(', '),
      maxAge: maxAgeSeconds,
      // An OPTIONS request that is no preflight is answered all the same, not with a plugin's own error.
      strictPreflight: false,
    })
    // No cache keeps an answer to POST, so only who names an origin needs the headers: the plugin would write them
    // for every resource server, too, at several microseconds each.
    app.addHook('onRequest', (request, reply, next) => {
      if (request.headers.origin !== undefined) {
        if (isOfAccounts(request.routeOptions.url ?? readPath(request.url))) {
          // The plugin has answered for paths and methods that have no route.
          for (const name of Object.keys(readable)) reply.removeHeader(name)
          allowListed(request, reply)
        } else if (request.method === 'POST') reply.headers(readable)
      }
      next()
    })
  },
  { name: 'cors' },
)

const isOfAccounts = (path: string): boolean =>
  path === '/register' || path === '/lookup' || path.startsWith('/dashboard/')

/** The path as the router reads it. */
const readPath = (url: string): string => {
  const [path = ''] = url.split(/[?#]/, 1)
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
