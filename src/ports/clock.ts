/** Injected so that tests control time. */
export interface Clock {
  now(): Date
  /** Resolves to false if the signal aborted the sleep. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<boolean>
}
