export interface Job {
  readonly everyMs: number
  /** Runs one round. The signal aborts on shutdown; unfinished work is resumed after the next start. */
  run(stopped: AbortSignal): Promise<void>
}
