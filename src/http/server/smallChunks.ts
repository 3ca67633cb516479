import type { IncomingMessage } from 'node:http'

export interface SmallChunks {
  /** Closes the connection of a request whose body arrives in too many small chunks. */
  bound(request: IncomingMessage): void
  /** Its response has ended. */
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
      request.push = (chunk, encoding) => {
        chunks += 1
        bytes += chunk?.length ?? 0
        if (counts.has(request)) {
          counts.set(request, chunks)
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
      // Node would read the rest for as long as it arrives. Closed at once, the client could lose the response.
      const { socket } = request
      socket.pause()
      setTimeout(() => socket.destroy(), unreadBodyMs).unref()
    },
  }
}

const isChunked = ({ headers }: IncomingMessage): boolean => headers['transfer-encoding'] !== undefined
