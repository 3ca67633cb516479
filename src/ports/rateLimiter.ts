/** A fixed window: at most `limit` per `windowMs`, starting at the first hit. */
export interface LimitWindow {
  readonly key: string
  readonly limit: number
  readonly windowMs: number
  /** Default 1. */
  readonly cost?: number
  /** Counts what has happened already: never refused, and forgotten last where a store is full. */
  readonly isUnrefusable?: boolean
}

export interface WindowState {
  readonly remaining: number
  readonly resetsAt: Date
}

/** All or nothing: a refused request consumes from no window. `windows` is in request order. */
export interface RateLimitResult {
  readonly isAllowed: boolean
  /** Index of the window that refused; null if allowed. */
  readonly refusedBy: number | null
  readonly windows: readonly WindowState[]
}

/** Atomic over all windows, and across instances if the store is shared. */
export interface RateLimiter {
  take(windows: readonly LimitWindow[]): Promise<RateLimitResult>
  /**
   * Gives back what an allowed `take` consumed, in the windows that have not ended since. Best effort: never rejects,
   * and does nothing while the store is down.
   */
  refund(windows: readonly LimitWindow[], taken: RateLimitResult): Promise<void>
  /** True while the shared store is down and each process counts separately. */
  isDegraded(): boolean
  close(): Promise<void>
}

/** Whose share of limited work a request uses. */
export interface Requester {
  /** A customer, or the address of callers without a proven one: an IPv6 address counts as its /64 network. */
  readonly name: string
  /** The IPv6 /48 network around it; null for IPv4 and for customers. */
  readonly site: string | null
}
