import { parseArgs } from 'node:util'

export interface ListenOptions {
  readonly apiKey: string
  readonly url: string
  /** Where events are posted; null: they are only printed. */
  readonly forward: string | null
  /** Signs what is forwarded; null: a new one is made and printed. */
  readonly secret: string | null
  /** Null: only events from now on. */
  readonly cursor: string | null
  readonly isJson: boolean
}

export const usage = (command: string) => `Usage: ${command} --key <API key> [options]

  --key <API key>      of the project whose events are shown; needs the scope read
  --url <URL>          of the service; default http://127.0.0.1:8080
  --forward <URL>      posts each event there as a signed webhook message
  --secret <whsec_…>   signs what is forwarded: the secret of your webhook; default: a new one, printed at the start
  --cursor <cursor>    starts after this position, 0: with the oldest event; default: with the next event
  --json               prints each event as one line of JSON`

export class ListenUsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ListenUsageError'
  }
}

const webUrl = /^https?:$/

/** Null: help was asked for. Throws `ListenUsageError`. */
export const readListenOptions = (args: readonly string[]): ListenOptions | null => {
  const { values } = parseOptions(args)
  if (values.help) return null
  const { key, secret = null, cursor = null } = values
  if (key === undefined || key === '') throw new ListenUsageError('--key is required.')
  if (secret !== null && !/^whsec_[A-Za-z0-9+/]{32,}={0,2}$/.test(secret)) {
    throw new ListenUsageError('--secret must begin with whsec_.')
  }
  if (cursor !== null && !/^[0-9]{1,18}$/.test(cursor)) throw new ListenUsageError('--cursor must be digits.')
  return {
    apiKey: key,
    url: readUrl('--url', values.url).replace(/\/+$/, ''),
    forward: values.forward === undefined ? null : readUrl('--forward', values.forward),
    secret,
    cursor,
    isJson: values.json,
  }
}

const parseOptions = (args: readonly string[]) => {
  try {
    return parseArgs({
      args: [...args],
      options: {
        key: { type: 'string' },
        url: { type: 'string', default: 'http://127.0.0.1:8080' },
        forward: { type: 'string' },
        secret: { type: 'string' },
        cursor: { type: 'string' },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    })
  } catch (error) {
    throw new ListenUsageError(error instanceof Error ? error.message : 'The options cannot be parsed.')
  }
}

const readUrl = (name: string, text: string): string => {
  if (URL.canParse(text) && webUrl.test(new URL(text).protocol)) return text
  throw new ListenUsageError(`${name} must begin with http:// or https://.`)
}
