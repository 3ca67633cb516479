export type LimitScope = 'address' | 'customer' | 'everyone'

export interface RequestLimit {
  /** Method and route, as in `POST /settle`; `*`: all routes; `/dashboard/*`: all dashboard routes. */
  readonly endpoint: string
  readonly limit: number
  readonly windowMs: number
  readonly per: LimitScope
  /** `unproven`: with a key whose account is not proven to belong to its mailbox. */
  readonly appliesTo: 'anonymous' | 'keyed' | 'unproven' | 'all'
  /** How many times the limit of a /64 network its IPv6 /48 has, for limits per address; default 8. */
  readonly siteFactor?: number
  /** Counted only after the body was validated, so that malformed bodies do not use it up. */
  readonly countsValidOnly?: boolean
  /**
   * For limits over all callers: once it is used up, addresses that used nothing of it for a day share a second one of the
   * same size.
   */
  readonly sparesNewcomers?: boolean
}

/** Configurable limits; 0 turns a limit off. */
export interface RequestLimitSettings {
  readonly anonymousRequestsPerMinute: number
  readonly anonymousSettlesPerMinute: number
  /** Over all callers, and as many of newcomers; lookups are counted separately, with the same limits. */
  readonly registrationsPerMinute: number
  readonly registrationsPerAddressPerHour: number
}

/** Defaults from the specification. */
export const defaultRequestLimits = {
  anonymousRequestsPerMinute: 1_000,
  anonymousSettlesPerMinute: 100,
  registrationsPerMinute: 30,
  registrationsPerAddressPerHour: 5,
} as const satisfies RequestLimitSettings

export const unlimitedPaths: readonly string[] = ['/health', '/ready', '/metrics']

/** Closed while the shared limit store is down: these routes hand out keys and send mail. */
export const sharedOnlyPaths: readonly string[] = ['/register', '/lookup']

const minuteMs = 60_000
const hourMs = 3_600_000

/** An account can meter 1,000 sessions once a second. Each update is one row of a shared commit. */
const streamUpdatesPerMinute = 60_000

/**
 * Endpoints with a count of their own against the rate of the tier, and the requests per minute that every tier has at least:
 * verify and settle of one sale do not share a count, and updates of streams never delay a close. Other endpoints share one
 * count, at the anonymous rate at least. The dashboard has limits of its own.
 */
export const tierRatedEndpoints: ReadonlyMap<string, number> = new Map([
  ['POST /verify', 0],
  ['POST /settle', 0],
  ['POST /v1/intent/:id/execute', 0],
  ['POST /v1/captures', 0],
  ['POST /v1/voids', 0],
  ['POST /v1/refunds', 0],
  ['POST /v1/stream/open', 0],
  ['POST /v1/stream/close', 0],
  ['POST /v1/stream/update', streamUpdatesPerMinute],
])

/** Keyed callers are also limited by the rate of their tier; those of an address that are not proven, together as well. */
export const listRequestLimits = (figures: RequestLimitSettings): readonly RequestLimit[] => {
  const perAddress = (endpoint: string, limit: number): RequestLimit => {
    return { endpoint, limit, windowMs: minuteMs, per: 'address', appliesTo: 'anonymous' }
  }
  /** They apply to callers with a key as well: what these routes keep, or compute, is paid for by all. */
  const perClient = (endpoint: string, limit: number): RequestLimit => {
    return { endpoint, limit, windowMs: minuteMs, per: 'address', appliesTo: 'all' }
  }
  const perCustomer = (endpoint: string, limit: number): RequestLimit => {
    return { endpoint, limit, windowMs: minuteMs, per: 'customer', appliesTo: 'keyed' }
  }
  /** Anyone can name many mailboxes: all customers of one address have together what one has. */
  const perUnproven = (endpoint: string, limit: number): RequestLimit => {
    return { endpoint, limit, windowMs: minuteMs, per: 'address', appliesTo: 'unproven' }
  }
  const ofKeys = (endpoint: string): readonly RequestLimit[] => [
    {
      endpoint,
      limit: figures.registrationsPerMinute,
      windowMs: minuteMs,
      per: 'everyone',
      appliesTo: 'all',
      countsValidOnly: true,
      // Otherwise a few addresses could use it up in every minute.
      sparesNewcomers: true,
    },
    // It applies to callers with a key as well: otherwise one key could create any number of others.
    {
      endpoint,
      limit: figures.registrationsPerAddressPerHour,
      windowMs: hourMs,
      per: 'address',
      appliesTo: 'all',
      // One site cannot use up the window of everyone.
      siteFactor: 2,
      countsValidOnly: true,
    },
  ]
  return [
    perAddress('*', figures.anonymousRequestsPerMinute),
    perAddress('POST /settle', figures.anonymousSettlesPerMinute),
    perAddress('POST /v1/intent/:id/execute', figures.anonymousSettlesPerMinute),
    perAddress('POST /v1/stream/open', figures.anonymousSettlesPerMinute),
    perAddress('POST /v1/stream/close', figures.anonymousSettlesPerMinute),
    // These read chains.
    perAddress('POST /v1/intent', 60),
    perAddress('POST /v1/intent/:id/refresh', 60),
    perAddress('POST /v1/intent/:id/route', 120),
    perCustomer('POST /v1/intent', 600),
    perCustomer('POST /v1/intent/:id/refresh', 600),
    perUnproven('POST /v1/intent', 600),
    perUnproven('POST /v1/intent/:id/refresh', 600),
    perCustomer('GET /v1/payments/:network/:paymentInfoHash', 600),
    perUnproven('GET /v1/payments/:network/:paymentInfoHash', 600),
    // An explanation reads more of a chain than a verification.
    perAddress('POST /v1/explain', 60),
    perCustomer('POST /v1/explain', 120),
    perUnproven('POST /v1/explain', 120),
    perAddress('POST /v1/siwx/nonce', 120),
    perAddress('POST /v1/siwx/verify', 120),
    ...ofKeys('POST /register'),
    ...ofKeys('POST /lookup'),
    perClient('POST /discovery/validate', 60),
    perClient('POST /v1/discovery/validate', 60),
    perClient('POST /v1/credit/refresh', 30),
    perCustomer('/dashboard/*', 1_000),
    // Alone: a neighbour at the same address must not keep others from a rotation, which has five in a minute.
    perUnproven('/dashboard/*', 1_000),
    perCustomer('POST /dashboard/rotate', 5),
    perCustomer('POST /dashboard/api-keys', 10),
    // These can read chains.
    perCustomer('POST /dashboard/recipients', 30),
    perCustomer('POST /dashboard/recipients/message', 30),
    perCustomer('POST /dashboard/restrictions', 30),
    perCustomer('POST /dashboard/webhook', 30),
    perCustomer('POST /dashboard/webhook/test', 5),
    perCustomer('GET /dashboard/info', 120),
    perClient('POST /sandbox/scenarios', 60),
    perClient('POST /sandbox/inbox', 60),
    perClient('POST /sandbox/clock/advance', 120),
  ].filter(({ limit }) => limit > 0)
}

/** Maximum request body sizes, in bytes. */
export const bodyLimits = {
  /** Default. The largest payment, with a 16 kB EIP-6492 signature in hex, takes about 34 kB. */
  payment: 65_536,
  paymentMaximum: 1_048_576,
  /**
   * Default of /settle: a claim of 100 rows takes 62 kB with small amounts, 70 kB with the largest, and more with signatures of
   * wallet contracts. What a body costs depends on its values, which are bounded for all alike.
   */
  settle: 131_072,
  /** A sign-in proof of 16 kB as a JSON object with the expectations of the server. */
  signIn: 32_768,
  /** A declaration of 64 kB, for `/discovery/validate`, within a 402 answer. */
  declaration: 131_072,
  /** Every other route; the largest body has two lists of 100 addresses and host names. */
  account: 8_192,
} as const

/** How long a request is known by its Idempotency-Key. */
export const keyKeptMs = 86_400_000
