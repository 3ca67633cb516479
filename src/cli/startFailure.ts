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

/** Names the variable that an error of `listen` is about. */
export const nameListenError = (
  error: unknown,
  { host, port }: { readonly host: string; readonly port: number },
): unknown => {
  switch (readCode(error)) {
    case 'EADDRINUSE':
      return startError(
        'PORT',
        `port ${port} is in use by another program. End that program, or set PORT to another port.`,
        error,
      )
    case 'EACCES':
      return startError(
        'PORT',
        `this user may not listen on port ${port}. Set PORT to 1024 or more, behind a proxy.`,
        error,
      )
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return startError('HOST', `"${host}" is no address of this machine. Default: 0.0.0.0.`, error)
    default:
      return error
  }
}

const startError = (variable: string, problem: string, cause: unknown): StartError =>
  new StartError(variable, problem, { cause })

const readCode = (error: unknown): unknown =>
  error instanceof Error && 'code' in error ? error.code : undefined
