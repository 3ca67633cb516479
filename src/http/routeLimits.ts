import { siteFactor as defaultSiteFactor } from '../platform/clientNetwork.js'
import {
  type LimitScope,
  type RequestLimit,
  sharedOnlyPaths,
  tierRatedEndpoints,
  unlimitedPaths,
} from '../protocol/requestLimits.js'

export interface RouteWindow {
  readonly prefix: string
  readonly limit: number
  readonly windowMs: number
  readonly per: LimitScope
  readonly siteFactor: number
  readonly sparesNewcomers: boolean
}

interface TierCount {
  /** Endpoint, or `*` for all that share one count. */
  readonly name: string
  /** Requests per minute that every tier has at least; -1: unlimited. */
  readonly floor: number
  /** Requests per minute that an address without a key has there; -1: unlimited. */
  readonly anonymous: number
}

interface RouteWindows {
  readonly anonymous: readonly RouteWindow[]
  readonly keyed: readonly RouteWindow[]
  /** They count beside `keyed`. */
  readonly unproven: readonly RouteWindow[]
}

export interface RouteLimits extends RouteWindows {
  /** Counted after the body was validated; null: none. */
  readonly validOnly: RouteWindows | null
  /** The count against the rate of the caller's tier; null: none. */
  readonly tierCount: TierCount | null
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
  const validOnly = rows.filter(({ countsValidOnly }) => countsValidOnly === true)
  return {
    ...toWindows(rows.filter(({ countsValidOnly }) => countsValidOnly !== true)),
    validOnly: validOnly.length === 0 ? null : toWindows(validOnly),
    // Dashboard requests must not use up the rate for payments.
    tierCount: isDashboard ? null : findTierCount(table, `${method} ${path}`),
    requiresSharedStore: sharedOnlyPaths.includes(path),
  }
}

/** Where no key is needed, a key never makes a caller slower. */
const findTierCount = (table: readonly RequestLimit[], endpoint: string): TierCount => {
  const findAnonymous = (name: string) =>
    table.find((row) => row.endpoint === name && row.appliesTo === 'anonymous')?.limit
  const anonymous = findAnonymous('*') ?? -1
  const floor = tierRatedEndpoints.get(endpoint)
  if (floor === undefined) return { name: '*', floor: anonymous, anonymous }
  return { name: endpoint, floor, anonymous: findAnonymous(endpoint) ?? anonymous }
}

const toWindows = (rows: readonly RequestLimit[]): RouteWindows => {
  const listFor = (caller: RequestLimit['appliesTo'], ...others: RequestLimit['appliesTo'][]) =>
    rows.filter(({ appliesTo }) => [caller, ...others].includes(appliesTo)).map(toWindow)
  return {
    anonymous: listFor('anonymous', 'all'),
    keyed: listFor('keyed', 'all'),
    unproven: listFor('unproven'),
  }
}

const toWindow = ({
  endpoint,
  limit,
  windowMs,
  per,
  appliesTo,
  siteFactor = defaultSiteFactor,
  sparesNewcomers = false,
}: RequestLimit): RouteWindow => ({
  prefix: `${endpoint} ${appliesTo === 'unproven' ? appliesTo : per} `,
  limit,
  windowMs,
  per,
  siteFactor,
  sparesNewcomers,
})
