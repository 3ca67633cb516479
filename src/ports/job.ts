export interface Job {
  readonly everyMs: number
  /** One instance does the job for all that share the database. Default: each instance does it. */
  readonly isShared?: boolean
  /** Rounds are skipped while the database has none of this. Default: none is skipped. */
  readonly needs?: Work
  /** Runs one round. The signal aborts on shutdown; unfinished work is resumed after the next start. */
  run(stopped: AbortSignal): Promise<void>
}

/** What jobs do, as the database knows it. */
export type Work =
  | 'credit'
  | 'holds'
  | 'intents'
  | 'openSettlements'
  | 'ownerChallenges'
  | 'queues'
  | 'streams'
  | 'unfinalSettlements'
  | 'webhooks'

export interface WorkFinder {
  /** False only if there was none less than `maxAgeMs` ago. */
  mayHave(work: Work, maxAgeMs: number): Promise<boolean>
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
