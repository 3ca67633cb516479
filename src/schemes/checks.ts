/** Returns null if the candidate passes, else the reason for refusal. */
export type Check<Candidate, Failure> = (candidate: Candidate) => Failure | null

export const runChecks = <Candidate, Failure>(
  checks: readonly Check<Candidate, Failure>[],
  candidate: Candidate,
): Failure | null => {
  for (const check of checks) {
    const failure = check(candidate)
    if (failure !== null) return failure
  }
  return null
}
