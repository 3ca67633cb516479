import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** The facilitator as its users run it: a process of its own. */
export interface FacilitatorProcess {
  readonly url: string
  readonly pid: number
  /** Resolves with the code with which the process ended; null when a signal ended it. */
  readonly ended: Promise<number | null>
  /** Asks it to finish its work and end. */
  stop(): Promise<void>
  /** Ends it the hard way, in the middle of whatever it does. */
  kill(): Promise<void>
  /** Tells the preloaded module something; without one nobody listens. */
  tell(message: string): void
}

/** How the process is prepared. */
export interface FacilitatorOptions {
  /** A module that runs before the service, in its process; it is told messages over Node's own channel. */
  readonly preload?: URL
}

const startDeadlineMs = 60_000
const entry = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** Starts the service with exactly this configuration and waits until it is ready; every log line is handed on. */
export const startFacilitator = async (
  environment: Readonly<Record<string, string>>,
  onLogLine: (line: string) => void,
  { preload }: FacilitatorOptions = {},
): Promise<FacilitatorProcess> => {
  const port = environment.PORT ?? '8080'
  const preloaded = preload === undefined ? [] : ['--import', preload.href]
  const child = spawn(process.execPath, ['--import', 'tsx', ...preloaded, entry], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...(preload === undefined ? [] : ['ipc' as const])],
  })
  const complaints: string[] = []
  if (child.stdout !== null) createInterface({ input: child.stdout }).on('line', onLogLine)
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => complaints.push(line))
  }
  // Whatever ends this process, the other one must not be left behind.
  const endWithUs = () => child.kill('SIGTERM')
  process.once('exit', endWithUs)
  const ended = once(child, 'exit').then(([code]) => {
    process.off('exit', endWithUs)
    return typeof code === 'number' ? code : null
  })

  const url = `http://127.0.0.1:${port}`
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  const deadline = Date.now() + startDeadlineMs
  while (!(await isReady(url))) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`The facilitator did not start:\n${complaints.join('\n')}`)
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
  const tell = (message: string) => {
    // One that has just ended needs to be told nothing.
    if (child.connected) child.send(message, () => undefined)
  }
  return { url, pid: child.pid ?? 0, ended, stop, kill, tell }
}

const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}
