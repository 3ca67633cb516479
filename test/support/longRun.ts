/** `npm run test:long`: tests whose `npm test` form is small run at full size. */
export const isLongRun = process.env.LONG_RUN === '1'

/** Runs of a model or of a race. */
export const countRuns = (usual: number, long: number): number => (isLongRun ? long : usual)
