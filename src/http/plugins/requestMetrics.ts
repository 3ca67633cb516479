import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Metrics } from '../../platform/metrics.js'
import { onResponseEnd } from '../reply.js'

export const measureRequest = (metrics: Metrics, request: FastifyRequest, reply: FastifyReply): void => {
  metrics.countRequestStarted()
  onResponseEnd(reply, ({ status, durationMs }) =>
    metrics.countRequestEnded({
      method: request.method,
      endpoint: request.routeOptions.url ?? 'other',
      status,
      durationSeconds: durationMs / 1_000,
    }),
  )
}

export const measureRequests = fastifyPlugin<{ readonly metrics: Metrics }>(
  (app, { metrics }, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      measureRequest(metrics, request, reply)
      next()
    })
    done()
  },
  { name: 'measureRequests' },
)
