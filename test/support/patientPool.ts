/** A busy machine must not end a copy of the template, what a test looks up, or a lock that it holds meanwhile. */
export const patientPool = {
  statementTimeoutMs: 60_000,
  connectionTimeoutMs: 60_000,
  idleTransactionTimeoutMs: 300_000,
  onError: () => undefined,
} as const
