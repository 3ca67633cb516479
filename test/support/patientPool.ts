/** A busy machine must not end a copy of the template, or what a test looks up. */
export const patientPool = {
  statementTimeoutMs: 60_000,
  connectionTimeoutMs: 60_000,
  onError: () => undefined,
} as const
