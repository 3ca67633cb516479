/** 00:00 UTC on the first of the month that a moment lies in. */
export const startOfMonth = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1))

/** 00:00 UTC on the first of the month after: when a quota begins anew. */
export const startOfNextMonth = (at: Date): Date =>
  new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1))

/** Whole seconds until the next month begins, at least one. */
export const secondsUntilNextMonth = (at: Date): number =>
  Math.ceil((startOfNextMonth(at).getTime() - at.getTime()) / 1_000)
