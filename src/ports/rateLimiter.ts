/** One bucket that a request draws from: at most `limit` within `windowMs`, from the first hit on. */
export interface LimitWindow {
  readonly key: string
  readonly limit: number
  readonly windowMs: number
  /** How much this request draws; 1 unless told. */
  readonly cost?: number
}

/** A bucket after the request. */
export interface WindowState {
  readonly remaining: number
  readonly resetsAt: Date
}

/** All or nothing: a refused request has drawn from no bucket. `windows` is in the order of the question. */
export interface LimitAnswer {
  readonly isAllowed: boolean
  /** Which window refused, as an index; null when allowed. */
  readonly refusedBy: number | null
  readonly windows: readonly WindowState[]
}

/** Draws from several buckets at once, atomically across instances where the store is shared. */
export interface RateLimiter {
  take(windows: readonly LimitWindow[]): Promise<LimitAnswer>
  /** True while a shared store is down and each process counts for itself. */
  isDegraded(): boolean
  close(): Promise<void>
}
