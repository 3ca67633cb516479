import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

export interface SmallChunks {
  /**
   * Closes the connection of the response's request if its body arrives in too many small chunks, or has not ended a second
   * after the response.
   */
  bound(response: ServerResponse): void
}

/** One request may have so many: a payment of 4 kB may arrive byte by byte. */
const maxOfRequest = 4_096
/** When all requests in progress have more, each may have only a few: an unread chunk takes about 200 bytes. */
const maxOfAll = 200_000
const few = 256
const smallBytes = 64
const unreadBodyMs = 1_000

/**
 * Each chunk costs the same whatever its size, read or not: 64 kB in chunks of one byte take 20 MB while their request waits
 * for its turn.
 */
export const createSmallChunks = (): SmallChunks => {
  const counts = new WeakMap<IncomingMessage, number>()
  let ofAll = 0

  const forget = (request: IncomingMessage): void => {
    ofAll -= counts.get(request) ?? 0
    counts.delete(request)
  }

  const end = (request: IncomingMessage): void => {
    forget(request)
    if (request.complete) return
    // The rest is read, so that the connection serves the next request; but not for as long as it arrives.
    request.resume()
    const { socket } = request
    setTimeout(() => {
      if (!request.complete) socket.destroy()
    }, unreadBodyMs).unref()
  }

  return {
    bound: (response) => {
      const { req: request } = response
      if (request.headers['transfer-encoding'] === undefined) return
      response.once('close', () => end(request))
      const push = request.push
      let [chunks, bytes] = [0, 0]
      counts.set(request, 0)
      // Otherwise Node discards what follows the response without asking this function.
      request.read(0)
      // From now on it is read, and nothing of it is kept.
      request.once('resume', () => forget(request))
      request.push = (chunk, encoding) => {
        if (chunk === null) return push.call(request, chunk, encoding)
        chunks += 1
        bytes += chunk.length
        const held = counts.get(request)
        if (held !== undefined) {
          counts.set(request, held + 1)
          ofAll += 1
        }
        const most = ofAll > maxOfAll ? few : maxOfRequest
        if (chunks > most && bytes < chunks * smallBytes) {
          request.socket.destroy()
          return false
        }
        return push.call(request, chunk, encoding)
      }
    },
  }
}

/**
 * Node reads the rest of a packet after a refusal as well, up to 64 kB and a thousand requests, in 20 ms. Its parser stops
 * at a request that changes the protocol, so the next one is taken for such a request.
 */
export const ignoreRest = (request: IncomingMessage): void => {
  const socket: Socket & { parser?: { onIncoming?: () => number } | null } = request.socket
  if (socket.parser?.onIncoming) socket.parser.onIncoming = () => protocolChanges
  // Its body would be kept until its response, in chunks of one byte 200 times its size.
  let bytes = 0
  request.push = (chunk) => {
    bytes += chunk?.length ?? 0
    return bytes < request.readableHighWaterMark
  }
}

// Node's own function returns it for CONNECT.
const protocolChanges = 2
