/** `npm run test:long`: tests whose `npm test` form is small run at full size. */
export const isLongRun = process.env.LONG_RUN === '1'

/** Set for the project that runs the store suites once more, on the oldest Postgres. */
const isRepeated = process.env.REPEATED_RUN === '1'

/** Runs of a model or of a race. A repeated suite needs only as many as execute every statement. */
export const countRuns = (usual: number, long = usual): number => {
  if (isLongRun) return long
  return isRepeated ? Math.ceil(usual / 4) : usual
}
