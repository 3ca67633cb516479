import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The facilitator as its users run it: a process of its own. */
export interface FacilitatorProcess {
  readonly url: string
  /** Resolves with the code with which the process ended; null when a signal ended it. */
  readonly ended: Promise<number | null>
  /** Asks it to finish its work and end. */
  stop(): Promise<void>
  /** Ends it the hard way, in the middle of whatever it does. */
  kill(): Promise<void>
}

const startDeadlineMs = 60_000
const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Starts the service with exactly this configuration and waits until it is ready; every log line is handed on. */
export const startFacilitator = async (
  environment: Readonly<Record<string, string>>,
  onLogLine: (line: string) => void,
): Promise<FacilitatorProcess> => {
  const port = environment.PORT ?? '8080'
  const child = spawn(process.execPath, ['--import', 'tsx', entry], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const complaints: string[] = []
  createInterface({ input: child.stdout }).on('line', onLogLine)
  createInterface({ input: child.stderr }).on('line', (line) => complaints.push(line))
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null))
  // Whatever ends this process, the other one must not be left behind.
  process.once('exit', () => child.kill('SIGTERM'))

  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  const deadline = Date.now() + startDeadlineMs
  while (!(await isReady(url))) {
    if (child.exitCode !== null) throw new Error(`The facilitator did not start:\n${complaints.join('\n')}`)
    if (Date.now() > deadline) {
      await stop()
      throw new Error(`The facilitator was not ready within ${startDeadlineMs / 1_000} s`)
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { url, ended, stop, kill }
}

const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}
