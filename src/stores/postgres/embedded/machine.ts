import { once } from 'node:events'
import { createServer } from 'node:net'
import { type Binaries, listBinaries } from './binaries.js'

/** Replaced by tests. */
export interface Machine {
  readonly platform: NodeJS.Platform
  /** Null on Windows, which has no numeric users. */
  readonly userId: number | null
  readonly binaries: readonly Binaries[]
  /** util-linux programs, by name or path; each may be missing. */
  readonly tools: { readonly unshare: string; readonly setpriv: string; readonly flock: string }
  /** For a new cluster and the server together; also for a program to tell its version, and for the first connection. */
  readonly startDeadlineMs: number
  /** Time for a fast shutdown before an immediate one is requested. */
  readonly stopDeadlineMs: number
  readonly pickPort: () => Promise<number>
  /** In milliseconds; what deadlines are measured by. */
  readonly now: () => number
}

export function thisMachine(): Machine {
  return {
    platform: process.platform,
    userId: process.getuid?.() ?? null,
    binaries: listBinaries(),
    tools: { unshare: 'unshare', setpriv: 'setpriv', flock: 'flock' },
    startDeadlineMs: 60_000,
    stopDeadlineMs: 20_000,
    pickPort,
    now: Date.now,
  }
}

/** Another process may take the port before it is used. */
export async function pickPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('No loopback port could be opened.')
  return address.port
}
