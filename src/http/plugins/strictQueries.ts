import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'

const noQuery = z.strictObject({})
const paths = ['/register', '/lookup', '/v1/settlements/:id']

/**
 * Account routes refuse query parameters that they do not have: a misspelled filter must not return everything. Routes
 * with parameters declare a strict schema themselves. /verify and /settle ignore them, as clients may add their own.
 */
export const strictQueries = fastifyPlugin(
  (app, _options, done) => {
    app.addHook('onRoute', (route) => {
      if (route.config?.access !== 'dashboard' && !paths.includes(route.url)) return
      if (route.schema?.querystring !== undefined || route.method === 'OPTIONS') return
      route.schema = { ...route.schema, querystring: noQuery }
    })
    done()
  },
  { name: 'strictQueries' },
)
