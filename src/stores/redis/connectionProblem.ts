import { scrubText } from '../../platform/scrub.js'

const problems: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'no server listens there',
  ENOTFOUND: 'the host is unknown',
  EAI_AGAIN: 'the host is unknown',
  ETIMEDOUT: 'it does not answer',
  EHOSTUNREACH: 'it does not answer',
  ENETUNREACH: 'it does not answer',
  ECONNRESET: 'it closed the connection',
}

/** What is wrong with the Redis of this URL, in half a sentence with its host and port. Never its user or password. */
export const describeRedisProblem = (error: Error, url: string): string => {
  const { hostname, port } = new URL(url)
  const code = 'code' in error ? String(error.code) : ''
  const refusal = /^(?:WRONGPASS|NOAUTH|NOPERM|ERR AUTH|ERR invalid password)/.exec(error.message)?.[0]
  const problem = refusal === undefined ? problems[code] : `it refuses this user or password (${refusal})`
  return `${hostname}:${port === '' ? '6379' : port}: ${problem ?? scrubText(error.message)}`
}
