import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Launch } from './launch.js'
import type { Machine } from './machine.js'
import { type ServerProcess, startServerProcess } from './serverProcess.js'

const portTaken = /could not bind |could not create any TCP\/IP sockets/
const backendsRunning = /pre-existing shared memory block/

/**
 * Waits until the server accepts connections on a free loopback port.
 * @throws an operator-facing error with the end of the server log
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
    const settings = { ...defaultSettings, ...options.settings, ...requiredSettings, port: String(port) }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = startServerProcess(launch, { args: ['-D', cluster, ...flags], log })
    if (await waitUntilReady(server, cluster, { machine, deadline })) return { server, port }

    const reason = server.exitReason()
    if (reason === null) {
      await server.stop(machine.stopDeadlineMs)
      throw new Error(`Postgres was not ready in time. Last log lines:\n${server.recentLog()}`)
    }
    const mayRetry = portTaken.test(server.recentLog()) || backendsRunning.test(server.recentLog())
    if (!mayRetry || machine.now() > deadline) {
      throw new Error(`Postgres ${reason} while it started. Last log lines:\n${server.recentLog()}`)
    }
    // Another process took the port, or backends of a killed server are still shutting down.
    await delay(100)
  }
}

const defaultSettings = { max_connections: '40', timezone: 'UTC', log_timezone: 'UTC' }

/** Required by the launcher: loopback only, log to our pipe, English messages. */
const requiredSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  logging_collector: 'off',
  log_destination: 'stderr',
  lc_messages: 'C',
}

async function waitUntilReady(
  server: ServerProcess,
  cluster: string,
  { machine, deadline }: { machine: Machine; deadline: number },
): Promise<boolean> {
  while (server.exitReason() === null && machine.now() < deadline) {
    if (await isReady(cluster, server.pid)) return true
    await delay(10)
  }
  // Wait for the complete log, which decides whether to retry.
  if (server.exitReason() !== null) await server.exited
  return false
}

// Line 8 of postmaster.pid is the status that pg_ctl waits for; unlike the log, no setting disables it.
async function isReady(cluster: string, pid: number | undefined): Promise<boolean> {
  const text = await readFile(join(cluster, 'postmaster.pid'), 'utf8').catch(() => '')
  const lines = text.split('\n')
  return lines[0] === String(pid) && lines[7]?.trim() === 'ready'
}
