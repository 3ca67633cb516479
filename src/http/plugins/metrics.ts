import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { Metrics } from '../../platform/metrics.js'
import { whenEnded } from '../ending.js'

/** Counts one request, from now to the end of its answer. */
export const measureRequest = (metrics: Metrics, request: FastifyRequest, reply: FastifyReply): void => {
  metrics.countRequestStarted()
  whenEnded(reply, ({ status, durationMs }) =>
    metrics.countRequestEnded({
      method: request.method,
      // The pattern of the route: a path is the caller's text and would make a label of every guess.
      endpoint: request.routeOptions.url ?? 'other',
      status,
      durationSeconds: durationMs / 1_000,
    }),
  )
}

/** Counts every request. */
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
