import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { spawnChild } from '../test/support/spawnChild.js'
import { readResidentMib } from './readUsage.js'

export interface Contender {
  readonly name: string
  readonly url: string
  readonly pid: number
  /** Memory before the first request. */
  readonly idleMib: number
  /** From the start of the process until it is ready. */
  readonly startMs: number
  stop(): Promise<void>
}

export interface Launch {
  readonly name: string
  readonly port: number
  readonly args: readonly string[]
  readonly readyPath: string
  readonly environment: Readonly<Record<string, string>>
}

const startDeadlineMs = 60_000

export const root = fileURLToPath(new URL('..', import.meta.url))

/** Starts a facilitator and waits until it is ready. It is killed when this process exits. */
export const launch = async ({ name, port, args, readyPath, environment }: Launch): Promise<Contender> => {
  const begun = performance.now()
  const child = spawnChild([process.env.BENCH_NODE || process.execPath, ...args], {
    cwd: root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, NODE_ENV: 'production', ...environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(child, 'exit')
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM')
    await ended
  }
  const url = `http://127.0.0.1:${port}`
  const deadline = Date.now() + startDeadlineMs
  while (child.exitCode === null && Date.now() < deadline) {
    if (await isReady(`${url}${readyPath}`)) {
      const pid = child.pid ?? 0
      const startMs = performance.now() - begun
      return { name, url, pid, idleMib: readResidentMib(pid), startMs, stop }
    }
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await stop()
  throw new Error(`${name} did not start`)
}

const isReady = (url: string): Promise<boolean> =>
  fetch(url, { signal: AbortSignal.timeout(2_000) }).then(
    ({ ok }) => ok,
    () => false,
  )
