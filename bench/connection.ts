import { once } from 'node:events'
import { connect } from 'node:net'

export interface Connection {
  /** Sends a complete request and returns the response body; rejects if the connection breaks. */
  exchange(request: Buffer): Promise<string>
  readonly isOpen: boolean
  close(): void
}

interface Waiter {
  readonly resolve: (body: string) => void
  readonly reject: (error: Error) => void
}

const nothing = Buffer.alloc(0)

/** Minimal HTTP: it shares the CPU with the service under test, and Node's client is several times slower. */
export const openConnection = async (
  url: URL,
  deadlineMs: number,
  /** To connect from, of this machine; default: the system's choice. */
  localAddress?: string,
): Promise<Connection> => {
  const from = localAddress === undefined ? {} : { localAddress }
  const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true, ...from })
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(deadlineMs) })
  } catch (error) {
    socket.destroy()
    throw error
  }
  let waiter: Waiter | null = null
  let received: Buffer = nothing

  const fail = (error: Error): void => {
    waiter?.reject(error)
    waiter = null
    socket.destroy()
  }
  socket.setTimeout(deadlineMs, () => fail(new Error(`no response within ${deadlineMs} ms`)))
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

/** Null while the response is incomplete. */
const readBody = (received: Buffer): string | null => {
  const headEnd = received.indexOf('\r\n\r\n')
  if (headEnd === -1) return null
  const length = /\r\ncontent-length: (\d+)/i.exec(received.toString('latin1', 0, headEnd))?.[1]
  if (length === undefined) throw new Error('the response has no Content-Length')
  const start = headEnd + 4
  const end = start + Number(length)
  return received.length < end ? null : received.toString('utf8', start, end)
}
