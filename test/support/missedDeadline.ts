/** A deadline that ends what hangs: nothing that the test expects to succeed runs against it. */
export const missedDeadline = (afterMs: number): AbortSignal => AbortSignal.timeout(afterMs)
