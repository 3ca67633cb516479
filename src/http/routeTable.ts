import type { FastifyInstance, RouteOptions } from 'fastify'
import fastifyPlugin from 'fastify-plugin'
import { z } from 'zod'
import { AppError } from '../errors.js'
import type { KeyScope } from '../protocol/accounts.js'
import { type Access, findRequiredScope } from './auth/caller.js'

interface ServedRoute {
  readonly method: string
  /** OpenAPI pattern: `/v1/settlements/{id}`. */
  readonly path: string
  readonly access: Access
  /** That a presented key needs; null: none. */
  readonly scope: KeyScope | null
  readonly summary: string
  readonly isDocumented: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    listRoutes(): readonly ServedRoute[]
  }
}

/** Startup fails if a route lacks `config.access`. Not a plugin: those load after the first routes. */
export const addRouteTable = (app: FastifyInstance): void => {
  const declared: DeclaredRoute[] = []
  app.addHook('onRoute', (route) => {
    declared.push({ url: route.url, route })
  })
  const listRoutes = () => declared.flatMap(listMethods)
  app.decorate('listRoutes', listRoutes)
  app.addHook('onReady', async () => {
    listRoutes()
  })
}

interface DeclaredRoute {
  /** Copied: Fastify reuses the options object of `/docs` for `/docs/`. */
  readonly url: string
  /** Not copied: plugins modify it after registration. */
  readonly route: RouteOptions
}

const listMethods = ({ url, route }: DeclaredRoute): readonly ServedRoute[] => {
  const methods = typeof route.method === 'string' ? [route.method] : route.method
  return methods.map((method) => describeRoute(method, url, route))
}

const describeRoute = (method: string, url: string, { config, schema }: RouteOptions): ServedRoute => {
  const access = config?.access
  if (access === undefined) throw new Error(`${method} ${url} has no config.access`)
  const scope = findRequiredScope(method, { access, ...config })
  if (access === 'key' && scope === null) throw new Error(`${method} ${url} has no config.scope`)
  return {
    method,
    path: url.replaceAll(/:([A-Za-z0-9_]+)/g, '{$1}'),
    access,
    scope,
    summary: schema?.summary ?? '',
    isDocumented: schema?.hide !== true && method !== 'HEAD' && method !== 'OPTIONS',
  }
}

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

/**
 * No text of Postgres has the character NUL: a parameter with it would fail as a statement. Only where a route reads
 * parameters; after authentication, so that a caller without a key learns nothing else first.
 */
export const refuseNul = fastifyPlugin(
  (app, _options, done) => {
    app.addHook('preValidation', ({ url, routeOptions: { schema } }, _reply, next) => {
      const isRead = schema?.params !== undefined || schema?.querystring !== undefined
      const hasNul = isRead && url.includes('%00')
      next(hasNul ? new AppError('INVALID_REQUEST', 'The URL must not contain %00 (NUL)') : undefined)
    })
    done()
  },
  { name: 'refuseNul' },
)
