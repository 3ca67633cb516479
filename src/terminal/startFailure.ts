import { ConfigError } from '../config.js'
import { scrubText } from '../platform/scrub.js'
import { StartError } from '../platform/startError.js'

/** Fields of the log event `start.failed`. Library messages can contain URLs with keys; ours hold no values. */
export const describeStartFailure = (error: unknown): Readonly<Record<string, unknown>> => {
  if (error instanceof StartError) return { variable: error.variable, problem: error.problem }
  if (error instanceof ConfigError) return { problems: error.problems }
  if (!(error instanceof Error)) return { problem: 'The service failed to start.' }
  const isDefect = [TypeError, RangeError, ReferenceError, SyntaxError].some((type) => error instanceof type)
  return { problem: scrubText(error.message), ...(isDefect ? { error } : {}) }
}
