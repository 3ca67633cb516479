import {
  type LimitShare,
  type RequestLimit,
  sharedOnlyPaths,
  unlimitedPaths,
} from '../protocol/requestLimits.js'

export interface RouteWindow {
  /** Prefix of the bucket key, before the address or account id. */
  readonly prefix: string
  readonly limit: number
  readonly windowMs: number
  readonly per: LimitShare
}

export interface RouteLimits {
  readonly anonymous: readonly RouteWindow[]
  readonly keyed: readonly RouteWindow[]
  /** Whether requests with a key also count against the rate of its tier. */
  readonly countsTierRate: boolean
  /** Whether the route is closed while limits cannot be shared between instances. */
  readonly requiresSharedStore: boolean
}

const dashboard = '/dashboard/'

export const findRouteLimits = (
  table: readonly RequestLimit[],
  { method, path }: { readonly method: string; readonly path: string },
): RouteLimits | null => {
  // Preflights are sent by browsers, which cache the response.
  if (method === 'OPTIONS' || unlimitedPaths.includes(path)) return null
  const isDashboard = path.startsWith(dashboard)
  const names = ['*', `${method === 'HEAD' ? 'GET' : method} ${path}`]
  if (isDashboard) names.push(`${dashboard}*`)
  const rows = table.filter(({ endpoint }) => names.includes(endpoint))
  return {
    anonymous: rows.filter(({ binds }) => binds !== 'keyed').map(toWindow),
    keyed: rows.filter(({ binds }) => binds !== 'anonymous').map(toWindow),
    // Dashboard requests must not use up the rate for payments.
    countsTierRate: !isDashboard,
    requiresSharedStore: sharedOnlyPaths.includes(path),
  }
}

const toWindow = ({ endpoint, limit, windowMs, per }: RequestLimit): RouteWindow => ({
  prefix: `${endpoint} ${per} `,
  limit,
  windowMs,
  per,
})
