import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { findProgram } from './program.js'

export interface FacilitatorProcess {
  readonly url: string
  readonly pid: number
  /** Exit code; null if terminated by a signal. */
  readonly ended: Promise<number | null>
  /** SIGTERM: graceful shutdown. */
  stop(): Promise<void>
  /** SIGKILL. */
  kill(): Promise<void>
  /** Sends an IPC message to the preloaded module; ignored without one. */
  sendMessage(message: string): void
}

export interface FacilitatorOptions {
  readonly preload?: URL
}

const startDeadlineMs = 60_000
const main = new URL('../../src/main.ts', import.meta.url)

/** Starts the service with only these variables and waits until it is ready. */
export const startFacilitator = async (
  environment: Readonly<Record<string, string>>,
  onLogLine: (line: string) => void,
  { preload }: FacilitatorOptions = {},
): Promise<FacilitatorProcess> => {
  const port = environment.PORT ?? '8080'
  const { flags, file } = findProgram(main)
  const preloaded = preload === undefined ? [] : ['--import', pathToFileURL(findProgram(preload).file).href]
  const child = spawn(process.execPath, [...flags, ...preloaded, file], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...(preload === undefined ? [] : ['ipc' as const])],
  })
  const errorLines: string[] = []
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.includes('"msg":"start.failed"')) errorLines.push(line)
      onLogLine(line)
    })
  }
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', (line) => errorLines.push(line))
  }
  // Do not leave an orphaned process.
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
      throw new Error(`The facilitator did not start:\n${errorLines.join('\n')}`)
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
  const sendMessage = (message: string) => {
    // The process may have just exited.
    if (child.connected) child.send(message, () => undefined)
  }
  return { url, pid: child.pid ?? 0, ended, stop, kill, sendMessage }
}

const isReady = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(`${url}/ready`, { signal: AbortSignal.timeout(2_000) })).ok
  } catch {
    return false
  }
}
