import type { IncomingHttpHeaders } from 'node:http'

/** As libraries for webhooks take them. */
export const readHeaders = (headers: IncomingHttpHeaders): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
