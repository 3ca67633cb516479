import fastifyCors from '@fastify/cors'
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

const readable = {
  'access-control-allow-origin': '*',
  'access-control-expose-headers': answerHeaders.join(', '),
}

/**
 * Lets a page of any origin call the service. That gives nothing away: a caller is known by a header that a
 * browser never adds by itself, and cookies play no part.
 */
export const cors = fastifyPlugin(
  async (app) => {
    app.addHook('onRoute', (route) => {
      if (route.method === 'OPTIONS' && route.url === '*')
        route.config = { ...route.config, access: 'public' }
      if (route.method === 'POST') route.config = { ...route.config, cors: false }
    })
    // No cache keeps an answer to POST, so only who names an origin needs the headers: the plugin would write them
    // for every resource server, too, at several microseconds each.
    app.addHook('onRequest', (request, reply, next) => {
      if (request.method === 'POST' && request.headers.origin !== undefined) reply.headers(readable)
      next()
    })
    await app.register(fastifyCors, {
      origin: '*',
      methods: ['GET', 'HEAD', 'POST', 'OPTIONS'],
      allowedHeaders: requestHeaders.join(', '),
      exposedHeaders: answerHeaders.join(', '),
      maxAge: 86_400,
      // An OPTIONS request that is no preflight is answered all the same, not with a plugin's own error.
      strictPreflight: false,
    })
  },
  { name: 'cors' },
)
