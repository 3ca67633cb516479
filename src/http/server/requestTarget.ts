import type { IncomingMessage } from 'node:http'
import { tierRatedEndpoints, unlimitedPaths } from '../../protocol/requestLimits.js'
import type { PacedRequest } from './pace.js'

type RequestLine = Pick<IncomingMessage, 'method' | 'url'>

const originOfAbsoluteForm = /^https?:\/\/[^/]*(?=\/)/i

/** The path by which Fastify finds the route, without the query, decoded. */
export const readPath = ({ url = '' }: RequestLine): string => {
  const [target = ''] = url.split(/[?#]/, 1)
  const path = target.startsWith('/') ? target : target.replace(originOfAbsoluteForm, '')
  return path.includes('%') ? decodePath(path) : path
}

const decodePath = (path: string): string => {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

const probes = new Set(unlimitedPaths)

/** /health, /ready and /metrics. Only without a body: the body of an unknown route is read as well, and may be slow. */
export const isProbeRequest = (request: RequestLine): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') && probes.has(readPath(request))

export const isMetricsRequest = (request: RequestLine): boolean => readPath(request) === '/metrics'

const endpointsWithParameters = [...tierRatedEndpoints.keys()]
  .filter((endpoint) => endpoint.includes(':'))
  .map((endpoint) => ({ endpoint, form: new RegExp(`^${endpoint.replaceAll(/:\w+/g, '[^/]+')}$`) }))

/** The endpoint whose count against the rate of the tier a request belongs to; `*`: the one that all others share. */
export const findTierEndpoint = (request: RequestLine): string => {
  const line = `${request.method} ${readPath(request)}`
  if (tierRatedEndpoints.has(line)) return line
  return endpointsWithParameters.find(({ form }) => form.test(line))?.endpoint ?? '*'
}

const intentPath = /^\/v1\/intent(?:$|\/[^/]+\/refresh$)/

/** What decides how fast requests begin beside those of other callers. */
export const describePace = (request: RequestLine): PacedRequest => ({
  // They have the balances of wallets read that the caller names.
  readsChains: request.method === 'POST' && intentPath.test(readPath(request)),
  apartPerMinute: tierRatedEndpoints.get(findTierEndpoint(request)) ?? 0,
})
