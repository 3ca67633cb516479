import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Launch } from './launch.js'
import type { Machine } from './machine.js'
import { type ServerProcess, startServerProcess } from './serverProcess.js'

const portTaken = /could not bind |could not create any TCP\/IP sockets/
const backendsLinger = /pre-existing shared memory block/

/**
 * Starts the server on a free loopback port and waits until it accepts connections.
 *
 * @throws a sentence with the end of the server's own log when it ends, or is not ready at the deadline
 */
export async function runServer(
  launch: Launch,
  options: {
    cluster: string
    settings: Readonly<Record<string, string>>
    machine: Machine
    deadline: number
    log: (line: string) => void
  },
): Promise<{ server: ServerProcess; port: number }> {
  const { cluster, machine, deadline, log } = options
  for (;;) {
    const port = await machine.pickPort()
    const settings = { ...standing, ...options.settings, ...fixed, port: String(port) }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = startServerProcess(launch, { args: ['-D', cluster, ...flags], log })
    if (await becomesReady(server, cluster, deadline)) return { server, port }

    const reason = server.endReason()
    if (reason === null) {
      await server.stop(machine.stopDeadlineMs)
      throw new Error(`Postgres was not ready in time. It said last:\n${server.tail()}`)
    }
    const mayRetry = portTaken.test(server.tail()) || backendsLinger.test(server.tail())
    if (!mayRetry || Date.now() > deadline) {
      throw new Error(`Postgres ${reason} while it started. It said last:\n${server.tail()}`)
    }
    // Another process took the port, or the backends of a killed server are still on their way out.
    await delay(100)
  }
}

/** What a caller may change. */
const standing = { max_connections: '40', timezone: 'UTC', log_timezone: 'UTC' }

/** What the launcher relies on: reachable from this machine only, logs to our pipe, in English. */
const fixed = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  logging_collector: 'off',
  log_destination: 'stderr',
  lc_messages: 'C',
}

async function becomesReady(server: ServerProcess, cluster: string, deadline: number): Promise<boolean> {
  while (server.endReason() === null && Date.now() < deadline) {
    if (await saysReady(cluster, server.pid)) return true
    await delay(10)
  }
  // Its log decides what happens next, so let it arrive.
  if (server.endReason() !== null) await server.ended
  return false
}

// The eighth line of postmaster.pid is what pg_ctl waits for; unlike the log, no setting silences it.
async function saysReady(cluster: string, pid: number | undefined): Promise<boolean> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
}
