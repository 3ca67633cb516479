/**
 * Repeats `deleteBatch` while it returns true, that is, while a batch was full. Short statements: a long one would keep
 * vacuum from removing what has ended since it began, and exceed the statement timeout.
 */
export const purgeInBatches = async (
  stopped: AbortSignal | undefined,
  deleteBatch: () => Promise<boolean>,
): Promise<void> => {
  while (stopped?.aborted !== true && (await deleteBatch())) {
    // Nothing: the next batch follows.
  }
}
