import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { commandOf, type Launch } from './launch.js'

/** A running postmaster, as its parent sees it. */
export interface ServerProcess {
  readonly pid: number | undefined
  /** Why it ended, or null while it runs. */
  endReason(): string | null
  /** Resolves with the reason once it has ended. */
  readonly ended: Promise<string>
  /** The last lines that it wrote. */
  tail(): string
  /** Fast shutdown; immediate after `deadlineMs`; by force after as long again. */
  stop(deadlineMs: number): Promise<void>
}

const tailLines = 20

/** Starts a postmaster that ends with this process, and passes on what it logs. */
export function startServerProcess(
  launch: Launch,
  { args, log }: { args: readonly string[]; log: (line: string) => void },
): ServerProcess {
  const { file, args: all, options } = commandOf(launch, 'postgres', args)
  const child = spawn(file, all, {
    ...options,
    stdio: ['ignore', 'ignore', 'pipe'],
    // A group of its own: Ctrl-C in a terminal must reach the application, which needs its database to drain.
    detached: process.platform !== 'win32',
  })
  const lines: string[] = []
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (lines.push(line) > tailLines) lines.shift()
    log(line)
  })

  let reason: string | null = null
  // Where setpriv is missing this is all that ties the server to an orderly end of ours.
  const stopWithUs = () => void signalServer(launch, child.pid, 'SIGINT')
  process.once('exit', stopWithUs)
  const ended = new Promise<string>((resolve) => {
    const end = async (why: string) => {
      process.off('exit', stopWithUs)
      reason = why
      // Its last words are still in the pipe, which an orphaned backend may keep open.
      if (!child.stderr.closed) await Promise.race([once(child.stderr, 'close'), delay(300)])
      resolve(why)
    }
    child.once('error', (error) => end(`could not be started: ${error.message}`))
    child.once('exit', (code, signal) =>
      end(signal === null ? `ended with code ${code}` : `was ended by ${signal}`),
    )
  })

  return {
    pid: child.pid,
    endReason: () => reason,
    ended,
    tail: () => lines.join('\n'),
    async stop(deadlineMs) {
      for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
        if (reason !== null) break
        await signalServer(launch, child.pid, signal)
        await Promise.race([ended, delay(deadlineMs, undefined, { ref: false })])
      }
      await ended
    },
  }
}

/** Windows has no signals: pg_ctl delivers what Postgres takes for them. */
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
    // It has just ended by itself.
  }
}
