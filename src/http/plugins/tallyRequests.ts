import type { FastifyReply, FastifyRequest } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import type { StatsUseCases } from '../../usecases/useCases.js'
import { whenEnded } from '../ending.js'
import { isProbe } from '../probes.js'

type Tally = Pick<StatsUseCases, 'countRequest'>

/** Counts one request for the statistics, unless it is a probe. */
export const tallyRequest = (tally: Tally, request: FastifyRequest, reply: FastifyReply): void => {
  if (isProbe(request)) return
  whenEnded(reply, (ending) => tally.countRequest(ending))
}

/** Counts every request for the statistics. */
export const tallyRequests = fastifyPlugin<{ readonly tally: Tally }>(
  (app, { tally }, done) => {
    app.addHook('onRequest', (request, reply, next) => {
      tallyRequest(tally, request, reply)
      next()
    })
    done()
  },
  { name: 'tallyRequests' },
)
