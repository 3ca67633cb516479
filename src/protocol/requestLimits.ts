/** Who is counted together in one window. */
export type LimitShare = 'address' | 'account' | 'everyone'

/** A row of the table of request limits: at most `limit` requests in a window of `windowMs`. */
export interface RequestLimit {
  /** Method and route, as in `POST /settle`; `*` is every route, `/dashboard/*` every one of the dashboard. */
  readonly endpoint: string
  readonly limit: number
  readonly windowMs: number
  readonly per: LimitShare
  readonly binds: 'anonymous' | 'keyed' | 'all'
}

/** What an operator may set of the table; 0 turns a limit off. */
export interface RequestLimitFigures {
  readonly anonymousRequestsPerMinute: number
  readonly anonymousSettlesPerMinute: number
  /** Of everyone together; look-ups are counted apart, with the same figures. */
  readonly registrationsPerMinute: number
  readonly registrationsPerAddressPerHour: number
}

/** The figures of the specification. */
export const specifiedFigures = {
  anonymousRequestsPerMinute: 1_000,
  anonymousSettlesPerMinute: 100,
  registrationsPerMinute: 30,
  registrationsPerAddressPerHour: 5,
} as const satisfies RequestLimitFigures

/** Routes that answer probes, however often they come. */
export const unlimitedPaths: readonly string[] = ['/health', '/ready', '/metrics']

/** Routes that are closed while limits cannot be shared: they hand out keys and send mail. */
export const sharedOnlyPaths: readonly string[] = ['/register', '/lookup']

const minuteMs = 60_000
const hourMs = 3_600_000

/** The table. A caller with a key is bound by its tier besides, everywhere but on its dashboard. */
export const listRequestLimits = (figures: RequestLimitFigures): readonly RequestLimit[] => {
  const perAddress = (endpoint: string, limit: number): RequestLimit => {
    return { endpoint, limit, windowMs: minuteMs, per: 'address', binds: 'anonymous' }
  }
  const perAccount = (endpoint: string, limit: number): RequestLimit => {
    return { endpoint, limit, windowMs: minuteMs, per: 'account', binds: 'keyed' }
  }
  const ofKeys = (endpoint: string): readonly RequestLimit[] => [
    { endpoint, limit: figures.registrationsPerMinute, windowMs: minuteMs, per: 'everyone', binds: 'all' },
    // Also with a key: whoever has one would otherwise get any number of others.
    {
      endpoint,
      limit: figures.registrationsPerAddressPerHour,
      windowMs: hourMs,
      per: 'address',
      binds: 'all',
    },
  ]
  return [
    perAddress('*', figures.anonymousRequestsPerMinute),
    perAddress('POST /settle', figures.anonymousSettlesPerMinute),
    perAddress('POST /v1/intent/:id/execute', figures.anonymousSettlesPerMinute),
    ...ofKeys('POST /register'),
    ...ofKeys('POST /lookup'),
    perAccount('/dashboard/*', 1_000),
    perAccount('POST /dashboard/rotate', 5),
    perAccount('POST /dashboard/webhook/test', 5),
    perAccount('GET /dashboard/info', 120),
  ].filter(({ limit }) => limit > 0)
}
