import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'
import { pollWithin, waitLimitMs } from './pollUntil.js'
import { findProgram, type Program } from './program.js'
import { spawnChild } from './spawnChild.js'

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

interface FacilitatorOptions {
  readonly preload?: URL
  /** Default: the service of these sources. */
  readonly program?: Program
  /** How long a service that runs may take until it is ready; default: almost as long as a test. */
  readonly startLimitMs?: number
}

/**
 * Below the limit of a test, so that the error shows the output. A whole process computes until it is ready, which takes more
 * than two minutes where many do.
 */
const defaultStartLimitMs = 280_000

/** What the error of a service that did not start shows of its output. */
const shownLines = 30

/**
 * The service closes a connection whose first byte is 5 s late, unless its peer is a proxy that it trusts: a test that stands
 * still between the two would lose the request.
 */
export const trustedTest = { TRUST_PROXY: '127.0.0.1' } as const

const listening = z.object({ port: z.number() })
const main = new URL('../../src/main.ts', import.meta.url)

/**
 * Starts the service with these variables and few others, and waits until it is ready. On `PORT` 0 the log of the service
 * says which one it has, at the level `info`.
 */
export const startFacilitator = async (
  environment: Readonly<Record<string, string>>,
  onLogLine: (line: string) => void,
  { preload, program = findProgram(main), startLimitMs = defaultStartLimitMs }: FacilitatorOptions = {},
): Promise<FacilitatorProcess> => {
  let port = Number(environment.PORT ?? 0)
  const { flags, file } = program
  const preloaded = preload === undefined ? [] : ['--import', pathToFileURL(findProgram(preload).file).href]
  const child = spawnChild([process.execPath, ...flags, ...preloaded, file], {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', ...trustedTest, ...environment },
    stdio: ['ignore', 'pipe', 'pipe', ...(preload === undefined ? [] : ['ipc' as const])],
  })
  const lastLines: string[] = []
  const keepLine = (line: string) => {
    if (lastLines.push(line) > shownLines) lastLines.shift()
  }
  if (child.stdout !== null) {
    createInterface({ input: child.stdout }).on('line', (line) => {
      keepLine(line)
      if (line.includes('"msg":"service.listening"')) port = listening.parse(JSON.parse(line)).port
      onLogLine(line)
    })
  }
  if (child.stderr !== null) {
    createInterface({ input: child.stderr }).on('line', keepLine)
  }
  // Not 'exit', before which the last output may not have arrived.
  let isClosed = false
  child.once('close', () => {
    isClosed = true
  })
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null))
  const stop = async () => {
    child.kill('SIGTERM')
    await ended
  }
  const isStarted = async (): Promise<boolean> => {
    if (isClosed) throw new Error(`The facilitator did not start:\n${lastLines.join('\n')}`)
    return port !== 0 && (await isReady(port))
  }
  try {
    await pollWithin(startLimitMs, {
      ask: isStarted,
      what: 'the facilitator to be ready',
      show: () => lastLines,
    })
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
  const kill = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const sendMessage = (message: string) => {
    // The process may have just exited.
    if (child.connected) child.send(message, () => undefined)
  }
  return { url: `http://127.0.0.1:${port}`, pid: child.pid ?? 0, ended, stop, kill, sendMessage }
}

const isReady = async (port: number): Promise<boolean> => {
  try {
    return (await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(waitLimitMs) })).ok
  } catch {
    return false
  }
}
