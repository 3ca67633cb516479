export const startOfMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))

/** When quotas reset: 00:00 UTC on the first of the next month. */
export const startOfNextMonth = (at: Date): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))

/** Rounded up; at least 1. */
export const secondsUntilNextMonth = (at: Date): number =>
  Math.ceil((startOfNextMonth(at).getTime() - at.getTime()) / 1_000)
