import fastifyPlugin from 'fastify-plugin'
import type { OperatorGate } from '../operatorGate.js'

/** Keeps everyone but operators from routes whose `access` is `operator`. */
export const operatorAccess = fastifyPlugin<{ readonly requireOperator: OperatorGate }>(
  (app, { requireOperator }, done) => {
    app.addHook('onRequest', async (request, reply) => {
      if (request.routeOptions.config.access === 'operator') requireOperator(request, reply)
    })
    done()
  },
  { name: 'operatorAccess' },
)
