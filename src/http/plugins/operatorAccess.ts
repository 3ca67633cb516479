import fastifyPlugin from 'fastify-plugin'
import type { OperatorGate } from '../operatorGate.js'

/** Keeps everyone but operators from routes whose `access` is `operator`. */
export const operatorAccess = fastifyPlugin<Pick<OperatorGate, 'requireOperator'>>(
  (app, { requireOperator }, done) => {
    app.addHook('onRequest', async (request) => {
      if (request.routeOptions.config.access === 'operator') requireOperator(request)
    })
    done()
  },
  { name: 'operatorAccess' },
)
