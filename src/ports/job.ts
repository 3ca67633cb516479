/** Work that repeats by itself. */
export interface Job {
  /** The pause after each round. */
  readonly everyMs: number
  /** One round. The signal aborts when the service closes: unfinished work waits for the next start. */
  run(stopped: AbortSignal): Promise<void>
}
