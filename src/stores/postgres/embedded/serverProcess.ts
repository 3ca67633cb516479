import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { buildCommand, type Launch, type Machine } from './machine.js'

export interface ServerProcess {
  readonly pid: number | undefined
  exitReason(): string | null
  readonly exited: Promise<string>
  recentLog(): string
  /** Fast shutdown; immediate after `deadlineMs`; SIGKILL after the same time again. */
  stop(deadlineMs: number): Promise<void>
}

const tailLines = 20

/** Starts a postmaster that ends with this process; forwards its log lines. */
function startServerProcess(
  launch: Launch,
  { args, log }: { args: readonly string[]; log: (line: string) => void },
): ServerProcess {
  const { file, args: all, options } = buildCommand(launch, 'postgres', args)
  const child = spawn(file, all, {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
    // Ctrl-C must only reach the application, which needs its database to shut down gracefully.
    detached: process.platform !== 'win32',
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (lines.push(line) > tailLines) lines.shift()
    log(line)
  })

  let reason: string | null = null
  // Without setpriv, only this ends the server with this process.
  const stopOnExit = () => void signalServer(launch, child.pid, 'SIGINT')
  process.once('exit', stopOnExit)
  const exited = new Promise<string>((resolve) => {
    const end = async (why: string) => {
      process.off('exit', stopOnExit)
      reason = why
      // The end of the log may still be in the pipe, which an orphaned backend can keep open.
      if (!child.stderr.closed) await Promise.race([once(child.stderr, 'close'), delay(300)])
      resolve(why)
    }
    child.once('error', (error) => end(`could not be started: ${error.message}`))
    child.once('exit', (code, signal) =>
      end(signal === null ? `exited with code ${code}` : `was terminated by ${signal}`),
    )
  })

  return {
    pid: child.pid,
    exitReason: () => reason,
    exited,
    recentLog: () => lines.join('\n'),
    async stop(deadlineMs) {
      for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
        if (reason !== null) break
        await signalServer(launch, child.pid, signal)
        await Promise.race([exited, delay(deadlineMs, undefined, { ref: false })])
      }
      await exited
    },
  }
}

/** Windows has no signals; `pg_ctl kill` emulates them. */
async function signalServer(launch: Launch, pid: number | undefined, signal: NodeJS.Signals): Promise<void> {
  if (pid === undefined) return
  if (process.platform === 'win32') {
    const args = ['kill', signal.slice('SIG'.length), String(pid)]
    await once(execFile(join(launch.bin, 'pg_ctl'), args, { windowsHide: true }), 'close')
    return
  }
  try {
    process.kill(pid, signal)
  } catch {
    // Already exited.
  }
}

const portTaken = /could not bind |could not create any TCP\/IP sockets/
const socketRefused = /could not create any Unix-domain sockets/
const backendsRunning = /pre-existing shared memory block/

export interface RunningServer {
  readonly server: ServerProcess
  readonly port: number
  /** Null where there is no Unix socket. */
  readonly socketFolder: string | null
}

/**
 * Waits until the server accepts connections on a free loopback port. Where the system and the length of the path permit
 * it, `socketFolder` has a Unix socket too: a statement over it costs client and server half the processor time.
 * @throws an operator-facing error with the end of the server log
 */
export async function runServer(
  launch: Launch,
  options: {
    cluster: string
    socketFolder: string
    settings: Readonly<Record<string, string>>
    machine: Machine
    deadline: number
    log: (line: string) => void
  },
): Promise<RunningServer> {
  const { cluster, machine, deadline, log } = options
  let socketFolder = machine.platform === 'win32' ? null : options.socketFolder
  for (;;) {
    const port = await machine.pickPort()
    const settings = {
      ...defaultSettings,
      ...options.settings,
      ...requiredSettings,
      unix_socket_directories: socketFolder === null ? '' : quoteFolder(socketFolder),
      port: String(port),
    }
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const server = startServerProcess(launch, { args: ['-D', cluster, ...flags], log })
    if (await waitUntilReady(server, cluster, { machine, deadline })) return { server, port, socketFolder }

    const reason = server.exitReason()
    if (reason === null) {
      await server.stop(machine.stopDeadlineMs)
      throw new Error(`Postgres was not ready in time. Last log lines:\n${server.recentLog()}`)
    }
    const lacksSocket = socketRefused.test(server.recentLog())
    // A path of more than about 100 bytes, or a file system without sockets.
    if (lacksSocket) socketFolder = null
    const mayRetry =
      lacksSocket || portTaken.test(server.recentLog()) || backendsRunning.test(server.recentLog())
    if (!mayRetry || machine.now() > deadline) {
      throw new Error(`Postgres ${reason} while it started. Last log lines:\n${server.recentLog()}`)
    }
    // Another process took the port, or backends of a killed server are still shutting down.
    await delay(100)
  }
}

const defaultSettings = {
  max_connections: '40',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // The first change of a page after a checkpoint logs the whole page, and most indexes have random keys. Recovery still
  // reads at most `max_wal_size`.
  checkpoint_timeout: '15min',
  wal_compression: 'on',
}

/** Required by the launcher: loopback only, log to our pipe, English messages. */
const requiredSettings = {
  listen_addresses: '127.0.0.1',
  logging_collector: 'off',
  log_destination: 'stderr',
  lc_messages: 'C',
}

/** Postgres reads a list, separated by commas. */
const quoteFolder = (folder: string): string => `"${folder.replaceAll('"', '""')}"`

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
