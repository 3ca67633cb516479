import type { FastifyInstance, RouteOptions } from 'fastify'
import type { Access } from './access.js'

/** A route that the service serves. */
export interface ServedRoute {
  readonly method: string
  /** The pattern in the form of OpenAPI: `/v1/settlements/{id}`. */
  readonly path: string
  readonly access: Access
  /** What it is for, in a few words; empty where it has no place in the reference. */
  readonly summary: string
  /** Whether the reference names it. */
  readonly isDocumented: boolean
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Every route, once the app is ready. */
    listRoutes(): readonly ServedRoute[]
  }
}

/**
 * Keeps the list of all routes, and stops the start when one of them does not say who may call it. No plugin:
 * those load later, and a route that was declared before would be missed.
 */
export const keepRouteTable = (app: FastifyInstance): void => {
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
  /** As declared; fastify goes on to use the options of `/docs` for `/docs/`. */
  readonly url: string
  /** By reference: what a plugin adds to its routes afterwards is seen as well. */
  readonly route: RouteOptions
}

const listMethods = ({ url, route }: DeclaredRoute): readonly ServedRoute[] => {
  const methods = typeof route.method === 'string' ? [route.method] : route.method
  return methods.map((method) => describeRoute(method, url, route))
}

const describeRoute = (method: string, url: string, { config, schema }: RouteOptions): ServedRoute => {
  const access = config?.access
  if (access === undefined) throw new Error(`${method} ${url} does not say who may call it (config.access)`)
  return {
    method,
    path: url.replaceAll(/:([A-Za-z0-9_]+)/g, '{$1}'),
    access,
    summary: schema?.summary ?? '',
    isDocumented: schema?.hide !== true && method !== 'HEAD' && method !== 'OPTIONS',
  }
}
