import { once } from 'node:events'
import { createServer, connect as openSocket, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGate, type Gate } from './gate.js'
import { reservePort } from './reservePort.js'

export interface TcpProxy {
  readonly port: number
  /** Ends all faults; data held back by `hang` is delivered. */
  pass(): Promise<void>
  delay(latencyMs: number): void
  /** Holds back all data without losing any; new connections are accepted but silent. */
  hang(): void
  reset(): Promise<void>
  refuse(): Promise<void>
  /** Pieces of data that passed in either direction. */
  countChunks(): number
  close(): Promise<void>
}

/** The URL of a Postgres server without its Unix socket, which takes precedence; by default with the server's own port. */
export const overTcp = (url: string, port?: number): string => {
  const changed = new URL(url)
  changed.searchParams.delete('host')
  if (port !== undefined) changed.port = String(port)
  return changed.href
}

const resetDeadlineMs = 250

/** A target function is called for each connection, for targets whose port changes. */
export const startTcpProxy = async (target: number | (() => number)): Promise<TcpProxy> => {
  const findTarget = typeof target === 'number' ? () => target : target
  const sockets = new Set<Socket>()
  let latencyMs = 0
  let chunks = 0
  let gate: Gate | null = null

  const track = (socket: Socket): void => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    // Resets are expected; both ends see them.
    socket.on('error', () => undefined)
    if (gate !== null) socket.pause()
  }

  const pump = (from: Socket, to: Socket): void => {
    // One promise chain per direction keeps the order when the latency changes.
    let delivered = Promise.resolve()
    const enqueue = (deliver: () => void): void => {
      const dueAt = performance.now() + latencyMs
      delivered = delivered.then(async () => {
        const leftMs = dueAt - performance.now()
        if (leftMs > 0) await sleep(leftMs)
        await gate?.opened
        if (!to.destroyed) deliver()
      })
    }
    from.on('data', (chunk) =>
      enqueue(() => {
        chunks += 1
        to.write(chunk)
      }),
    )
    from.on('end', () => enqueue(() => to.end()))
    from.on('close', (hadError) => {
      if (hadError) to.destroy()
    })
  }

  const server = createServer((incoming) => {
    const outgoing = openSocket(findTarget(), '127.0.0.1')
    for (const socket of [incoming, outgoing]) track(socket)
    outgoing.once('error', () => incoming.resetAndDestroy())
    pump(incoming, outgoing)
    pump(outgoing, incoming)
  })

  const listen = async (port: number): Promise<void> => {
    if (server.listening) return
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const resetAll = async (): Promise<void> => {
    await Promise.all(
      [...sockets].map((socket) => {
        sockets.delete(socket)
        const closed = new Promise((resolve) => {
          socket.once('close', resolve)
          // Node emits no `close` for a socket that was reset while shutting down.
          setTimeout(resolve, resetDeadlineMs)
        })
        socket.resetAndDestroy()
        return closed
      }),
    )
  }
  const unhang = (): void => {
    gate?.open()
    gate = null
    for (const socket of sockets) socket.resume()
  }

  // It stays bound while connections are refused.
  const port = await reservePort()
  await listen(port)

  const pass = async (): Promise<void> => {
    latencyMs = 0
    unhang()
    await listen(port)
  }

  return {
    countChunks: () => chunks,
    port,
    pass,
    delay(ms) {
      latencyMs = ms
    },
    hang() {
      gate ??= createGate()
      for (const socket of sockets) socket.pause()
    },
    async reset() {
      await resetAll()
      await pass()
    },
    async refuse() {
      server.close()
      await resetAll()
    },
    async close() {
      gate?.open()
      if (server.listening) server.close()
      await resetAll()
    },
  }
}
