import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type UnpackedPackages, unpackDebianPackages } from './debianPackages.js'
import { findFreePort } from './freePort.js'

/** A real Redis server for tests. */
export interface TestRedis {
  readonly url: string
  readonly port: number
  /** Whether the server is ours to break: one of `TEST_REDIS_URL` is not, and its keys are not ours alone. */
  readonly isOwn: boolean
  /** Kills the server; returns when it is gone. May be called twice, and on a server that is not ours. */
  stop(): Promise<void>
  /** Kills the server and starts it again, empty, on the same port. */
  restart(): Promise<void>
  /** Stops the server in its tracks: it keeps its connections, accepts more, and answers nothing. */
  hang(): void
  /** Ends `hang()`. */
  resume(): void
}

interface Program {
  readonly path: string
  readonly libraryPath: string
}

// The packages of Debian and Ubuntu that the server needs beyond what every system has.
const packages = [
  ...['redis-server', 'redis-tools', 'libjemalloc2', 'liblzf1'],
  ...['liblua5.1-0', 'lua-bitop', 'lua-cjson'],
] as const
const startDeadlineMs = 10_000
const maxPortTrials = 5

/**
 * Starts a server on loopback without persistence, or answers with that of `TEST_REDIS_URL`. It ends with
 * `stop()` or with this process, whichever comes first. Where no server can be had it answers null after
 * one loud line on stderr, or throws when `REQUIRE_REDIS=1`.
 */
export const startTestRedis = async (): Promise<TestRedis | null> => {
  const { TEST_REDIS_URL: url, REQUIRE_REDIS: isRequired } = process.env
  if (url) return borrow(url)
  const program = findOnPath() ?? (await findInPackages())
  if (program !== null) return startOwn(program)
  const advice = 'install redis-server (apt-get install redis-server) or set TEST_REDIS_URL'
  if (isRequired === '1') throw new Error(`REQUIRE_REDIS=1, but there is no redis-server: ${advice}`)
  process.stderr.write(`\n*** real-Redis suites SKIPPED: no redis-server here; ${advice} ***\n\n`)
  return null
}

const borrow = (url: string): TestRedis => {
  const notOurs = (): never => {
    throw new Error('The server of TEST_REDIS_URL is not ours to break')
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

/** A copy of the distribution's packages, which needs no root. */
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

/** The command that makes a child die with this process, or none where the system has no such thing. */
const findDeathSignalPrefix = (): readonly string[] => {
  const prefix = ['setpriv', '--pdeathsig', 'KILL']
  // Busybox has a setpriv without this option, so only a trial tells.
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
      // Somebody else may have taken the port in between.
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
  // Nobody reads the log any more, but a full pipe would stop the server.
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

// There is nothing to save, and a server that hangs hears no other signal.
const kill = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
