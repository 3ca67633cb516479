import { once } from 'node:events'
import { connect } from 'node:net'

/** A kept-alive HTTP connection that carries one request at a time. */
export interface Connection {
  /** Sends the bytes of a whole request and answers the response's body; throws when the connection breaks. */
  exchange(request: Buffer): Promise<string>
  readonly isOpen: boolean
  close(): void
}

interface Waiter {
  readonly resolve: (body: string) => void
  readonly reject: (error: Error) => void
}

const nothing = Buffer.alloc(0)

/**
 * Opens a connection that is cut when it stays silent for longer than the deadline. Barely an HTTP client: it
 * shares the machine with what it measures, and Node's own takes several times as long for each request.
 */
export const openConnection = async (url: URL, deadlineMs: number): Promise<Connection> => {
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true })
  await once(socket, 'connect')
  let waiter: Waiter | null = null
  let received: Buffer = nothing

  const fail = (error: Error): void => {
    waiter?.reject(error)
    waiter = null
    socket.destroy()
  }
  socket.setTimeout(deadlineMs, () => fail(new Error(`no answer within ${deadlineMs} ms`)))
  socket.on('error', fail)
  socket.on('close', () => fail(new Error('the server closed the connection')))
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    try {
      const body = readBody(received)
      if (body === null) return
      received = nothing
      waiter?.resolve(body)
      waiter = null
    } catch (error) {
      fail(error instanceof Error ? error : new Error(String(error)))
    }
  })

  return {
    exchange: (request) =>
      new Promise((resolve, reject) => {
        waiter = { resolve, reject }
        socket.write(request)
      }),
    get isOpen() {
      return !socket.destroyed
    },
    close: () => socket.destroy(),
  }
}

/** The response's body, or null while a part of it is missing. */
const readBody = (received: Buffer): string | null => {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1]
  if (length === undefined) throw new Error('the answer does not say its length')
  const start = headEnd + 4
  const end = start + Number(length)
  return received.length < end ? null : received.toString('utf8', start, end)
}
