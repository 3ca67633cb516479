import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Redis } from 'ioredis'
import { type UnpackedPackages, unpackDebianPackages } from './debianPackages.js'
import { pollUntil } from './pollUntil.js'
import { reservePort } from './reservePort.js'
import { spawnChild } from './spawnChild.js'

export interface TestRedis {
  readonly url: string
  readonly port: number
  /** False for the server of `TEST_REDIS_URL`, which must not be stopped and may contain other keys. */
  readonly isOwn: boolean
  /** Kills the server. Idempotent; no effect on an existing server. */
  stop(): Promise<void>
  /** Restarts the server on the same port, without data. */
  restart(): Promise<void>
  /** SIGSTOP: connections are accepted but not served. */
  hang(): void
  resume(): void
}

interface Program {
  readonly path: string
  readonly libraryPath: string
}

// Debian and Ubuntu packages, including libraries that small images lack.
const packages = [
  ...['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'],
  ...['liblua5.1-0', 'lua-bitop', 'lua-cjson'],
] as const

/**
 * `TEST_REDIS_URL`, or a server on loopback that ends with this process. Without redis-server: null with a
 * message on stderr, or an error with `REQUIRE_REDIS=1`.
 */
export const startTestRedis = async (): Promise<TestRedis | null> => {
  const { TEST_REDIS_URL: url, REQUIRE_REDIS: isRequired } = process.env
  if (url) return useExisting(url)
  const program = findOnPath() ?? (await findInPackages())
  if (program !== null) return startOwn(program)
  const advice = 'install redis-server (apt-get install redis-server) or set TEST_REDIS_URL'
  if (isRequired === '1') throw new Error(`REQUIRE_REDIS=1, but there is no redis-server: ${advice}`)
  process.stderr.write(`\n*** real-Redis suites SKIPPED: no redis-server here; ${advice} ***\n\n`)
  return null
}

const useExisting = (url: string): TestRedis => {
  const notOurs = (): never => {
    throw new Error('The server of TEST_REDIS_URL must not be stopped')
  }
  return {
    url,
    port: Number(new URL(url).port || 6379),
    isOwn: false,
    stop: async () => undefined,
    restart: async () => notOurs(),
    hang: notOurs,
    resume: notOurs,
  }
}

const runs = ({ path, libraryPath }: Program): boolean =>
  spawnSync(path, ['--version'], { env: environment(libraryPath), stdio: 'ignore' }).status === 0

const environment = (libraryPath: string): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  LC_ALL: 'C',
  ...(libraryPath === '' ? {} : { LD_LIBRARY_PATH: libraryPath }),
})

const findOnPath = (): Program | null => {
  const program = { path: 'redis-server', libraryPath: '' }
  return runs(program) ? program : null
}

const findInPackages = async (): Promise<Program | null> => {
  const programOf = ({ folder, libraryPath }: UnpackedPackages): Program => ({
    path: join(folder, 'usr/bin/redis-server'),
    libraryPath,
  })
  const isUsable = async (unpacked: UnpackedPackages) => runs(programOf(unpacked))
  const unpacked = await unpackDebianPackages({ name: 'redis', packages, isUsable })
  return unpacked === null ? null : programOf(unpacked)
}

const startOwn = async (program: Program): Promise<TestRedis> => {
  const port = await reservePort()
  let child = await launch(program, port)
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    isOwn: true,
    stop: () => kill(child),
    async restart() {
      await kill(child)
      child = await launch(program, port)
    },
    hang: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
  }
}

const launch = async ({ path, libraryPath }: Program, port: number): Promise<ChildProcess> => {
  const child = spawnChild(
    [
      ...[path, '--port', String(port), '--bind', '127.0.0.1', '--daemonize', 'no'],
      ...['--save', '', '--appendonly', 'no', '--dir', tmpdir(), '--loglevel', 'notice'],
    ],
    { env: environment(libraryPath), stdio: ['ignore', 'pipe', 'ignore'] },
  )
  try {
    await waitUntilReady(child)
  } catch (error) {
    await kill(child)
    throw error
  }
  child.unref()
  child.stdout?.resume()
  if (child.stdout instanceof Socket) child.stdout.unref()
  return child
}

const waitUntilReady = async (child: ChildProcess): Promise<void> => {
  let output = ''
  let failure: string | null = null
  const read = (chunk: Buffer): void => {
    output += chunk.toString()
  }
  child.stdout?.on('data', read)
  child.once('error', (error) => {
    failure = error.message
  })
  child.once('exit', (code, signal) => {
    failure ??= `ended with ${code ?? signal}`
  })
  const isReady = (): boolean => {
    if (failure !== null) throw new Error(`redis-server ${failure}: ${output.trim().slice(-500)}`)
    return output.includes('Ready to accept connections')
  }
  await pollUntil(isReady, 'redis-server to be ready', () => output)
  child.stdout?.off('data', read)
}

// Nothing to persist, and a stopped process only receives SIGKILL.
const kill = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}

export const shortTimeoutMs = 1_000

/** For commands that a fault leaves without an answer: a test waits for their timeout. Other commands have the time of a wait. */
export const shortenTimeout = (redis: Redis): void => {
  redis.options.commandTimeout = shortTimeoutMs
}
