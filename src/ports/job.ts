export interface Job {
  readonly everyMs: number
  /** One instance does the job for all that share the database. Default: each instance does it. */
  readonly isShared?: boolean
  /** Runs one round. The signal aborts on shutdown; unfinished work is resumed after the next start. */
  run(stopped: AbortSignal): Promise<void>
}
