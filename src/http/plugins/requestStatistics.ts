import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { StatsUseCases } from '../../usecases/useCases.js'
import { onResponseEnd } from '../reply.js'
import { isProbe } from '../server/readRequest.js'

type RequestCounter = Pick<StatsUseCases, 'countRequest'>

export const countRequest = (counter: RequestCounter, request: FastifyRequest, reply: FastifyReply): void => {
  if (isProbe(request)) return
  onResponseEnd(reply, (end) => counter.countRequest(end))
}

export const requestStatistics = fastifyPlugin<{ readonly counter: RequestCounter }>(
  (app, { counter }, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      countRequest(counter, request, reply)
      next()
    })
    done()
  },
  { name: 'requestStatistics' },
)
