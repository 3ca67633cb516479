/** One rule: null when it holds, else why the candidate is refused. */
export type Check<Candidate, Broken> = (candidate: Candidate) => Broken | null

/** The first rule that a candidate breaks, in the order of the list, or null. */
export const runChecks = <Candidate, Broken>(
  checks: readonly Check<Candidate, Broken>[],
  candidate: Candidate,
): Broken | null => {
  for (const check of checks) {
    const broken = check(candidate)
    if (broken !== null) return broken
  }
  return null
}
