import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

const hashes = new WeakMap<IncomingHttpHeaders, string>()

/** Names what a request presents as its key, or null; never the key itself, because it is kept and shared in stores. */
export const findCredentialHash = (headers: IncomingHttpHeaders): string | null => {
  const { authorization } = headers
  const apiKey = headers['x-api-key']
  if (authorization === undefined && apiKey === undefined) return null
  const known = hashes.get(headers)
  if (known !== undefined) return known
  const hash = createHash('sha256').update(`${authorization} ${apiKey}`).digest('base64')
  hashes.set(headers, hash)
  return hash
}
