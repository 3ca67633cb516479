import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { buildCommand, type Launch } from './launch.js'

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
export function startServerProcess(
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
