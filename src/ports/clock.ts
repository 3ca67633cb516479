/** Time as a parameter: tests move it. */
export interface Clock {
  now(): Date
  /** Resolves after a while; false when the signal ended the sleep. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<boolean>
}
