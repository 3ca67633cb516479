import type { FastifyRequest } from 'fastify'
import { createAddressBlocks } from '../../platform/addressBlocks.js'

const loopbackBlocks = ['127.0.0.0/8', '::1']
const loopbackAddresses = ['127.0.0.1', '::1']
// Any other name may be a web page's own, made to resolve to this machine (DNS rebinding).
const loopbackHost = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])(?::[0-9]{1,5})?$/i

/**
 * What programs send by themselves. A list of the headers that proxies and browsers add (Forwarded, Via, X-Real-IP,
 * Origin, Sec-Fetch-Site, …) would never be complete.
 */
const plainHeaders = new Set([
  ...['host', 'user-agent', 'accept', 'accept-encoding', 'accept-language', 'authorization', 'x-api-key'],
  ...['content-type', 'content-length', 'transfer-encoding', 'connection', 'keep-alive'],
  ...['cache-control', 'pragma'],
  // Node's fetch sends it alone; a browser sends Sec-Fetch-Site beside it.
  'sec-fetch-mode',
])

/**
 * Recognises requests that a program on this machine sent directly, without a browser or a proxy. A forwarder on
 * this machine that leaves no trace (TCP, or a proxy that adds no header and rewrites Host) passes for one. Where
 * TRUST_PROXY covers a loopback address, no request counts as local.
 */
export const createIsLocalCaller = (
  trustProxy: readonly string[],
): ((request: Pick<FastifyRequest, 'raw'>) => boolean) => {
  const blocks = createAddressBlocks()
  const coversLoopback = (entry: string): boolean => {
    const block = blocks.normalize(entry)
    // A block that cannot be read may cover anything.
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
    // nginx asks its upstreams by HTTP/1.0 unless configured otherwise.
    httpVersion === '1.1' &&
    loopbackHost.test(headers.host ?? '') &&
    Object.keys(headers).every((name) => plainHeaders.has(name))
}
