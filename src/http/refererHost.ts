import type { IncomingHttpHeaders } from 'node:http'

/** The host of the page that a request comes from, in lower case and without its port; null where none is told. */
export const findRefererHost = ({ referer, origin }: IncomingHttpHeaders): string | null =>
  readHost(referer) ?? readHost(origin)

const readHost = (url: string | undefined): string | null => {
  if (url === undefined || !URL.canParse(url)) return null
  const { hostname } = new URL(url)
  return hostname === '' ? null : hostname.toLowerCase()
}
