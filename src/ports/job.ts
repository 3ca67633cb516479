export interface Job {
  readonly everyMs: number
  /** One instance does the job for all that share the database. Default: each instance does it. */
  readonly isShared?: boolean
  /** Runs one round. The signal aborts on shutdown; unfinished work is resumed after the next start. */
  run(stopped: AbortSignal): Promise<void>
}

/** Decides which of several instances does a job that is done once for all of them. */
export interface JobLeases {
  /**
   * True if this instance holds the job until `leaseMs` from now: it held it before, or no live instance does. The
   * holder keeps the job from round to round.
   */
  take(job: string, leaseMs: number): Promise<boolean>
}

export interface ReadinessCheck {
  readonly name: string
  /** Results that count as ready. */
  readonly accepts: readonly string[]
  /** `ok`, another state, or what is wrong. Has its own deadline; a rejection counts as `unreachable`. */
  probe(): Promise<string>
}
