/** `npm run test:long`: tests whose `npm test` form is small run at full size. */
export const isLongRun = process.env.LONG_RUN === '1'
