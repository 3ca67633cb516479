import type { FastifyRequest } from 'fastify'
import { createAddressBlocks } from '../../platform/addressBlocks.js'

const loopbackBlocks = ['127.0.0.0/8', '::1']
const loopbackAddresses = ['127.0.0.1', '::1']
// Other names can be DNS rebinding: a web page's domain resolved to this machine.
const loopbackHost = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i

/** Allow-list: a deny-list of all headers that proxies and browsers add would never be complete. */
const plainHeaders = new Set([
  ...['host', 'user-agent', 'accept', 'accept-encoding', 'accept-language', 'authorization', 'x-api-key'],
  ...['content-type', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['cache-control', 'pragma'],
  // Node's fetch sends it alone; browsers also send Sec-Fetch-Site.
  'sec-fetch-mode',
])

/**
 * Requests sent directly by a program on this machine. A local forwarder that leaves no trace (TCP, or a proxy that
 * adds no header and rewrites Host) is not detected. Never true if TRUST_PROXY covers loopback.
 */
export const createIsLocalCaller = (
  trustProxy: readonly string[],
): ((request: Pick<FastifyRequest, 'raw'>) => boolean) => {
  const blocks = createAddressBlocks()
  const coversLoopback = (entry: string): boolean => {
    const block = blocks.normalize(entry)
    // An unreadable block may cover anything.
    if (block === null) return true
    const [network = ''] = block.split('/')
    return (
      blocks.include(loopbackBlocks, network) ||
      loopbackAddresses.some((address) => blocks.include([block], address))
    )
  }
  if (trustProxy.some(coversLoopback)) return () => false
  return ({ raw: { socket, httpVersion, headers } }) =>
    blocks.include(loopbackBlocks, socket.remoteAddress ?? '') &&
    // nginx uses HTTP/1.0 upstream unless configured otherwise.
    httpVersion === '1.1' &&
    loopbackHost.test(headers.host ?? '') &&
    Object.keys(headers).every((name) => plainHeaders.has(name))
}
