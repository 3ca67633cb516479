import {
  type LimitShare,
  type RequestLimit,
  sharedOnlyPaths,
  unlimitedPaths,
} from '../protocol/requestLimits.js'

/** A window of a route, but for whom it counts. */
export interface RouteWindow {
  /** What stands before the address or the account in the name of the bucket. */
  readonly prefix: string
  readonly limit: number
  readonly windowMs: number
  readonly per: LimitShare
}

/** What a route's requests draw from. */
export interface RouteLimits {
  readonly anonymous: readonly RouteWindow[]
  readonly keyed: readonly RouteWindow[]
  /** Whether a caller with a key draws from its tier's rate as well. */
  readonly isOfTier: boolean
  /** Whether nobody may pass while limits cannot be shared. */
  readonly needsSharedCount: boolean
}

const dashboard = '/dashboard/'

/** Picks from the table what binds a route; null for one that has no limits. */
export const findRouteLimits = (
  table: readonly RequestLimit[],
  { method, path }: { readonly method: string; readonly path: string },
): RouteLimits | null => {
  // A preflight is a browser's question, not the caller's; browsers remember the answer.
  if (method === 'OPTIONS' || unlimitedPaths.includes(path)) return null
  const isOfDashboard = path.startsWith(dashboard)
  const names = ['*', `${method === 'HEAD' ? 'GET' : method} ${path}`]
  if (isOfDashboard) names.push(`${dashboard}*`)
  const rows = table.filter(({ endpoint }) => names.includes(endpoint))
  return {
    anonymous: rows.filter(({ binds }) => binds !== 'keyed').map(toWindow),
    keyed: rows.filter(({ binds }) => binds !== 'anonymous').map(toWindow),
    // Whoever looks at its figures goes on being paid.
    isOfTier: !isOfDashboard,
    needsSharedCount: sharedOnlyPaths.includes(path),
  }
}

const toWindow = ({ endpoint, limit, windowMs, per }: RequestLimit): RouteWindow => ({
  prefix: `${endpoint} ${per} `,
  limit,
  windowMs,
  per,
})
