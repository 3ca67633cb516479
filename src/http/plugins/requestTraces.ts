import type { FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { knownMethods } from '../../platform/metrics.js'
import { runInSpan } from '../../platform/tracer/currentSpan.js'
import type { Span, Tracer } from '../../ports/tracer.js'
import { onResponseEnd } from '../reply.js'
import { isProbe } from '../server/readRequest.js'

const firstServerError = 500

/** Registered only where a collector is configured. Probes are not traced. */
export const requestTraces = fastifyPlugin<{ readonly tracer: Tracer }>(
  (app, { tracer }, done) => {
    const spans = new WeakMap<FastifyRequest, Span>()
    app.addHook('onRequest', (request, reply, next) => {
      const span = isProbe(request) ? null : startRequest(tracer, request)
      if (span === null) return next()
      spans.set(request, span)
      onResponseEnd(reply, ({ status }) => {
        span.setAttributes({ 'http.response.status_code': status })
        span.end(status >= firstServerError ? { error: new StatusError(status) } : undefined)
      })
      runInSpan(span, next)
    })
    // The body arrives in events of the connection, which do not run in the span.
    app.addHook('preValidation', (request, _reply, next) => {
      const span = spans.get(request)
      if (span === undefined) return next()
      runInSpan(span, next)
    })
    done()
  },
  { name: 'requestTraces' },
)

const startRequest = (tracer: Tracer, request: FastifyRequest): Span | null => {
  const { traceparent } = request.headers
  const method = knownMethods.has(request.method) ? request.method : '_OTHER'
  const route = request.routeOptions.url ?? 'other'
  return tracer.startRoot({
    name: `${method} ${route}`,
    kind: 'server',
    attributes: { 'http.request.method': method, 'http.route': route, 'quittance.request_id': request.id },
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  })
}

class StatusError extends Error {
  readonly code: string

  constructor(status: number) {
    super(`HTTP ${status}`)
    this.code = String(status)
  }
}
