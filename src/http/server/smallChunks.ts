import type { IncomingMessage } from 'node:http'

export interface SmallChunks {
  /** Closes the connection of a request whose body arrives in too many small chunks. */
  bound(request: IncomingMessage): void
  /** Its response has ended; of its body only what arrives within a second is read. */
  end(request: IncomingMessage): void
}

/** Of one request: a payment of 4 kB may arrive byte by byte. */
const maxOfRequest = 4_096
/** Of all requests in progress, beyond which each may have only a few: an unread chunk takes about 200 bytes. */
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

  return {
    bound: (request) => {
      if (!isChunked(request)) return
      const push = request.push
      let [chunks, bytes] = [0, 0]
      counts.set(request, 0)
      // Otherwise Node discards what follows the response without asking this function.
      request.read(0)
      // Read from now on: nothing of it is kept.
      request.once('resume', () => {
        ofAll -= counts.get(request) ?? 0
        counts.delete(request)
      })
      request.push = (chunk, encoding) => {
        if (chunk === null) return push.call(request, chunk, encoding)
        chunks += 1
        bytes += chunk.length
        const held = counts.get(request)
        if (held !== undefined && request.readableFlowing !== true) {
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
    end: (request) => {
      ofAll -= counts.get(request) ?? 0
      counts.delete(request)
      if (request.complete || !isChunked(request)) return
      // What is left of it, so that the connection serves the next request; not for as long as it arrives.
      request.resume()
      const { socket } = request
      setTimeout(() => {
        if (!request.complete) socket.destroy()
      }, unreadBodyMs).unref()
    },
  }
}

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined
