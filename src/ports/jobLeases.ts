/** Decides which of several instances does a job that is done once for all of them. */
export interface JobLeases {
  /**
   * True if this instance holds the job until `leaseMs` from now: it held it before, or no live instance does. The
   * holder keeps the job from round to round.
   */
  take(job: string, leaseMs: number): Promise<boolean>
}
