import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { Client } from 'pg'
import { type ChosenLaunch, chooseLaunch } from './chooseLaunch.js'
import { type FolderLock, lockFolder, stopOrphanedServer } from './claimFolder.js'
import { chownRecursive, getPassword, openDataFolder } from './dataFolder.js'
import { hasErrorCode, type Machine, runProgram, thisMachine, type User } from './machine.js'
import { runServer, type ServerProcess } from './serverProcess.js'

interface EmbeddedPostgresOptions {
  /** Data folder for this database only; created, restricted to the owner, and locked. */
  readonly folder: string
  readonly settings?: Readonly<Record<string, string>>
  /** Additional initdb arguments; later ones take precedence. */
  readonly initdbArgs?: readonly string[]
  readonly log: (line: string) => void
}

export interface EmbeddedPostgres {
  /** Contains the password. */
  readonly url: string
  /** Shuts down the server and releases the folder. Idempotent. */
  stop(): Promise<void>
  /** Calls the listener once if the server exits without `stop`, also if it already has. */
  onExit(listener: (reason: string) => void): void
}

/** On a random port of 127.0.0.1, and on a Unix socket where there can be one. The first start creates the cluster; later starts recover it. */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  machine: Machine = thisMachine(),
): Promise<EmbeddedPostgres> {
  const { log, initdbArgs = [], settings = {} } = options
  const folder = await openDataFolder(options.folder)
  const lock = await lockFolder(folder, machine, log)
  let server: ServerProcess | null = null
  try {
    const cluster = join(folder, 'cluster')
    const launch = await chooseLaunch(machine, { folder, owner: await readOwner(cluster) })
    if (launch.user !== null) await transferOwnership(folder, cluster, launch.user)
    warnWithoutDeathSignal(launch, machine, log)

    await stopOrphanedServer(launch, { cluster, machine, lock, log })
    await removeSockets(folder)
    const { password, path: passwordFile } = await getPassword(folder, launch.user)
    // Not before: copied binaries, changed owners and an orphaned server take as long as disk and server need.
    const deadline = machine.now() + machine.startDeadlineMs
    await createCluster(launch, { cluster, passwordFile, initdbArgs, timeoutMs: machine.startDeadlineMs })
    const running = await runServer(launch, {
      cluster,
      socketFolder: folder,
      settings,
      machine,
      deadline,
      log,
    })
    server = running.server

    const url = buildUrl(password, running)
    await createDatabase(buildUrl(password, running, 'postgres'), {
      passwordFile,
      timeoutMs: machine.startDeadlineMs,
    })
    return supervise(running.server, {
      url,
      stopDeadlineMs: machine.stopDeadlineMs,
      lock,
    })
  } catch (error) {
    await server?.stop(machine.stopDeadlineMs)
    lock.release()
    throw error
  }
}

function supervise(
  server: ServerProcess,
  { url, stopDeadlineMs, lock }: { url: string; stopDeadlineMs: number; lock: FolderLock },
): EmbeddedPostgres {
  let stopped: Promise<void> | null = null
  const stop = async () => {
    await server.stop(stopDeadlineMs)
    lock.release()
  }
  return {
    url,
    stop() {
      stopped ??= stop()
      return stopped
    },
    onExit(listener) {
      void server.exited.then((reason) => {
        if (stopped === null) listener(`Postgres ${reason}. Last log lines:\n${server.recentLog()}`)
      })
    },
  }
}

async function readOwner(cluster: string): Promise<User | null> {
  try {
    return await stat(cluster)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return null
    throw error
  }
}

/** The server's user must also be able to traverse to the folder. */
async function transferOwnership(folder: string, cluster: string, user: User): Promise<void> {
  for (let parent = dirname(folder); parent !== dirname(parent); parent = dirname(parent)) {
    const { mode, uid } = await stat(parent)
    const canEnter = (mode & (uid === user.uid ? 0o100 : 0o001)) !== 0
    if (!canEnter) {
      throw new Error(
        `Postgres runs as uid ${user.uid}, which has no access to ${parent}. Set DATA_FOLDER to another folder, or set DATABASE_URL.`,
      )
    }
  }
  // Including the lock, so that this user can later open the folder without root.
  for (const path of [folder, join(folder, 'lock')]) await chown(path, user.uid, user.gid)
  const owner = await readOwner(cluster)
  if (owner !== null && owner.uid !== user.uid) await chownRecursive(cluster, user)
}

function warnWithoutDeathSignal(
  launch: ChosenLaunch,
  { platform, tools }: Machine,
  log: (line: string) => void,
): void {
  if (platform !== 'linux' || launch.prefix.includes(tools.setpriv)) return
  log(
    `${tools.setpriv} is missing: if this process is killed with SIGKILL, Postgres keeps running until the next start.`,
  )
}

/** Also verifies that the server is ours and accepts our password. */
async function createDatabase(
  url: string,
  { passwordFile, timeoutMs }: { passwordFile: string; timeoutMs: number },
): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: timeoutMs })
  // Queries reject when the connection breaks; without this listener the event would crash the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rowCount } = await client.query('select from pg_database where datname = $1', [databaseName])
    if (rowCount === 0) await client.query(`create database ${databaseName}`)
  } catch (cause) {
    if (!hasErrorCode(cause, '28P01')) throw cause
    throw new Error(`The database rejects the password in ${passwordFile}. Restore the file from a backup.`, {
      cause,
    })
  } finally {
    await client.end()
  }
}

export const findRunningPostgres = async (folder: string): Promise<string | null> => {
  try {
    const file = await readFile(join(folder, 'cluster', 'postmaster.pid'), 'utf8')
    const [, , , port, socketFolder = ''] = file.split('\n')
    const password = (await readFile(join(folder, 'password'), 'utf8')).trim()
    const url = buildUrl(password, { port, socketFolder: socketFolder === '' ? null : socketFolder })
    await connectOnce(url)
    return url
  } catch (error) {
    // Never started, or a killed server left its files behind.
    if (hasErrorCode(error, 'ENOENT', 'ECONNREFUSED')) return null
    throw error
  }
}

/** Of the application database. The host in the query, which takes precedence, is the folder of the socket. */
const buildUrl = (
  password: string,
  {
    port,
    socketFolder,
  }: { readonly port: string | number | undefined; readonly socketFolder: string | null },
  database = databaseName,
): string => {
  const host = socketFolder === null ? '' : `&host=${encodeURIComponent(socketFolder)}`
  return `postgres://${databaseName}:${password}@127.0.0.1:${port}/${database}?sslmode=disable${host}`
}

const connectOnce = async (url: string): Promise<void> => {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
  } finally {
    await client.end()
  }
}

/** The superuser and the application database have this name. */
const databaseName = 'quittance'

/** Atomic: a crash leaves a `cluster.new-…` folder, which a later start removes. */
async function createCluster(
  launch: ChosenLaunch,
  options: { cluster: string; passwordFile: string; initdbArgs: readonly string[]; timeoutMs: number },
): Promise<void> {
  const { cluster } = options
  if (existsSync(cluster)) return checkVersion(cluster, launch)

  // Unique name: the initdb of a killed start may still be running, and removes its folder when it exits.
  await removeIncomplete(cluster)
  const incomplete = `${cluster}.new-${randomBytes(4).toString('hex')}`
  const locationArgs = [
    '-D',
    incomplete,
    '-U',
    databaseName,
    `--pwfile=${options.passwordFile}`,
    '--no-instructions',
  ]
  const formatArgs = ['-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C', '--data-checksums']
  const args = [...locationArgs, ...formatArgs, ...options.initdbArgs]
  try {
    await runProgram(launch, { program: 'initdb', args, timeoutMs: options.timeoutMs })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Postgres could not create its data folder ${cluster}: ${reason}`, { cause })
  }
  await rename(incomplete, cluster)
  await syncFolder(dirname(cluster))
}

/** Those of servers that were killed: each start has another port, and its socket another name. */
async function removeSockets(folder: string): Promise<void> {
  const sockets = (await readdir(folder)).filter((name) => name.startsWith('.s.PGSQL.'))
  for (const name of sockets) await rm(join(folder, name), { force: true })
}

async function removeIncomplete(cluster: string): Promise<void> {
  const folder = dirname(cluster)
  const halves = (await readdir(folder)).filter((name) => name.startsWith(`${basename(cluster)}.new`))
  for (const half of halves) {
    await rm(join(folder, half), { recursive: true, force: true }).catch(() => undefined)
  }
}

async function checkVersion(cluster: string, launch: ChosenLaunch): Promise<void> {
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')
  const version = text.trim()
  if (version === String(launch.major)) return
  if (version === '') throw new Error(`${cluster} is not a Postgres data folder: PG_VERSION is missing.`)
  throw new Error(
    `The data in ${cluster} was created by Postgres ${version}, but this is Postgres ${launch.major} (${launch.bin}). ` +
      'Migrate the data with pg_dump and pg_restore, or set DATABASE_URL to a server of that version.',
  )
}

/** Makes a rename durable. Not available on Windows, which cannot open folders. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
