import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { unpackDebianPackages } from './debianPackages.js'
import { pollUntil } from './pollUntil.js'
import { reservePort } from './reservePort.js'
import { spawnChild } from './spawnChild.js'
import { overTcp } from './tcpProxy.js'
import { makeTemporaryFolder } from './temporaryFolder.js'

export interface TestPgBouncer {
  /** The database of the given URL, through the pooler. */
  urlOf(databaseUrl: string): string
  stop(): Promise<void>
}

interface Program {
  readonly path: string
  readonly libraryPath: string
}

const nobody = 65_534
const packages = ['pgbouncer', 'libevent-2.1-7', 'libc-ares2'] as const
const advice = 'install pgbouncer (apt-get install pgbouncer)'

const environment = ({ libraryPath }: Program): NodeJS.ProcessEnv => ({
  PATH: process.env.PATH,
  ...(libraryPath === '' ? {} : { LD_LIBRARY_PATH: libraryPath }),
})

const runs = (program: Program): boolean =>
  spawnSync(program.path, ['--version'], { env: environment(program), stdio: 'ignore' }).status === 0

const findProgram = async (): Promise<Program | null> => {
  const installed = { path: 'pgbouncer', libraryPath: '' }
  if (runs(installed)) return installed
  const programOf = ({ folder, libraryPath }: { readonly folder: string; readonly libraryPath: string }) => ({
    path: join(folder, 'usr/sbin/pgbouncer'),
    libraryPath,
  })
  const unpacked = await unpackDebianPackages({
    name: 'pgbouncer',
    packages,
    isUsable: async (copy) => runs(programOf(copy)),
  })
  return unpacked === null ? null : programOf(unpacked)
}

/** Null with a message on stderr where there is no pgbouncer; an error with `REQUIRE_PGBOUNCER=1`. */
export const findPgBouncer = async (): Promise<Program | null> => {
  const program = await findProgram()
  if (program !== null) return program
  if (process.env.REQUIRE_PGBOUNCER === '1') {
    throw new Error(`REQUIRE_PGBOUNCER=1, but there is no pgbouncer: ${advice}`)
  }
  process.stderr.write(`\n*** PgBouncer suite SKIPPED: no pgbouncer here; ${advice} ***\n\n`)
  return null
}

/** In transaction mode, with few server connections, so that clients share them. */
export const startPgBouncer = async (program: Program, databaseUrl: string): Promise<TestPgBouncer> => {
  const server = new URL(databaseUrl)
  const port = await reservePort()
  const folder = await makeTemporaryFolder('quittance-pgbouncer-')
  const password = decodeURIComponent(server.password)
  const file = join(folder, 'pgbouncer.ini')
  await writeFile(
    file,
    [
      '[databases]',
      `* = host=${server.hostname} port=${server.port} user=${decodeURIComponent(server.username)}${password === '' ? '' : ` password=${password}`}`,
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${port}`,
      'unix_socket_dir =',
      'auth_type = any',
      'pool_mode = transaction',
      'default_pool_size = 3',
      'ignore_startup_parameters = statement_timeout, idle_in_transaction_session_timeout, extra_float_digits',
    ].join('\n'),
  )
  const child = spawnChild([program.path, file], {
    env: environment(program),
    stdio: 'ignore',
    // It refuses to run as root, and a change of user by itself would clear the signal that ends it with this process.
    ...(process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}),
  })
  await pollUntil(() => accepts(port), 'pgbouncer to listen')
  return {
    urlOf: (url) => {
      return overTcp(url, port)
    },
    stop: async () => {
      await end(child)
      await rm(folder, { recursive: true, force: true })
    },
  }
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })

const end = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  child.kill('SIGKILL')
  await gone
}
