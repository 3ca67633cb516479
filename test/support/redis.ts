import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type UnpackedPackages, unpackDebianPackages } from './debianPackages.js'
import { findFreePort } from './freePort.js'

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
const startDeadlineMs = 10_000
const maxPortTrials = 5

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

const running = new Set<ChildProcess>()
const killAll = (): void => {
  for (const child of running) child.kill('SIGKILL')
}

/** Command prefix that ends the child with this process (PR_SET_PDEATHSIG); empty if unsupported. */
const findDeathSignalPrefix = (): readonly string[] => {
  const prefix = ['setpriv', '--pdeathsig', 'KILL']
  // Busybox's setpriv lacks this option.
  const trial = spawnSync('setpriv', [...prefix.slice(1), 'true'], { stdio: 'ignore' })
  return trial.status === 0 ? prefix : []
}
let deathSignalPrefix: readonly string[] | null = null

const startOwn = async (program: Program): Promise<TestRedis> => {
  let { child, port } = await launchOnFreePort(program)
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

const launchOnFreePort = async (program: Program): Promise<{ child: ChildProcess; port: number }> => {
  for (let trial = 1; ; trial += 1) {
    const port = await findFreePort()
    try {
      return { child: await launch(program, port), port }
    } catch (error) {
      // Another process may have taken the port.
      if (trial === maxPortTrials) throw error
    }
  }
}

const launch = async ({ path, libraryPath }: Program, port: number): Promise<ChildProcess> => {
  deathSignalPrefix ??= findDeathSignalPrefix()
  const [file = path, ...args] = [
    ...deathSignalPrefix,
    ...[path, '--port', String(port), '--bind', '127.0.0.1', '--daemonize', 'no'],
    ...['--save', '', '--appendonly', 'no', '--dir', tmpdir(), '--loglevel', 'notice'],
  ]
  const child = spawn(file, args, { env: environment(libraryPath), stdio: ['ignore', 'pipe', 'ignore'] })
  if (running.size === 0) process.once('exit', killAll)
  running.add(child)
  child.once('exit', () => {
    running.delete(child)
    if (running.size === 0) process.off('exit', killAll)
  })
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

const waitUntilReady = (child: ChildProcess): Promise<void> => {
  let output = ''
  return new Promise((resolve, reject) => {
    const fail = (why: string): void => {
      clearTimeout(timer)
      reject(new Error(`redis-server ${why}: ${output.trim().slice(-500)}`))
    }
    const timer = setTimeout(() => fail(`did not start within ${startDeadlineMs} ms`), startDeadlineMs)
    const read = (chunk: Buffer): void => {
      output += chunk.toString()
      if (!output.includes('Ready to accept connections')) return
      clearTimeout(timer)
      child.stdout?.off('data', read)
      resolve()
    }
    child.stdout?.on('data', read)
    child.once('error', (error) => fail(error.message))
    child.once('exit', (code, signal) => fail(`ended with ${code ?? signal}`))
  })
}

// Nothing to persist, and a stopped process only receives SIGKILL.
const kill = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
