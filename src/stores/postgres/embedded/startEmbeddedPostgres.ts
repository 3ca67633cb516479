import { chown, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Client } from 'pg'
import { type ChosenLaunch, chooseLaunch } from './chooseLaunch.js'
import { createCluster, databaseName } from './createCluster.js'
import { getPassword } from './getPassword.js'
import { giveTo } from './giveTo.js'
import { hasCode } from './hasCode.js'
import type { User } from './launch.js'
import { type FolderLock, lockFolder } from './lockFolder.js'
import { type Machine, thisMachine } from './machine.js'
import { openFolder } from './openFolder.js'
import { runServer } from './runServer.js'
import type { ServerProcess } from './serverProcess.js'
import { stopStrayServer } from './stopStrayServer.js'

/** What a caller says about the database it wants. */
export interface EmbeddedPostgresOptions {
  /** The data folder, for this database alone. It is created, closed to other users, and locked. */
  readonly folder: string
  /** Server settings over the launcher's own, such as `{ fsync: 'off' }` in tests. */
  readonly settings?: Readonly<Record<string, string>>
  /** More arguments for the first start's initdb; a later one wins over ours. */
  readonly initdbArgs?: readonly string[]
  /** Receives each line of the server's log. */
  readonly log: (line: string) => void
}

/** A Postgres server that lives and dies with this process. */
export interface EmbeddedPostgres {
  /** Where to connect. It contains the password. */
  readonly url: string
  /** Shuts the server down and frees the folder. May be called again. */
  stop(): Promise<void>
  /** Reports an end that `stop` did not ask for, once; also when it has happened already. */
  onExit(listener: (reason: string) => void): void
}

/**
 * Starts a real Postgres server from installed binaries, on a random port of 127.0.0.1.
 *
 * The first start creates the cluster; later ones recover it, whatever killed the last.
 *
 * @throws a plain sentence that an operator can act on
 */
export async function startEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
  machine: Machine = thisMachine(),
): Promise<EmbeddedPostgres> {
  const { log, initdbArgs = [], settings = {} } = options
  const deadline = Date.now() + machine.startDeadlineMs
  const folder = await openFolder(options.folder)
  const lock = await lockFolder(folder, machine, log)
  let server: ServerProcess | null = null
  try {
    const cluster = join(folder, 'cluster')
    const launch = await chooseLaunch(machine, { folder, owner: await findOwner(cluster) })
    if (launch.user !== null) await handOver(folder, cluster, launch.user)
    sayHowItDies(launch, machine, log)

    await stopStrayServer(launch, { cluster, machine, lock, log })
    const { password, path: passwordFile } = await getPassword(folder, launch.user)
    await createCluster(launch, { cluster, passwordFile, initdbArgs, timeoutMs: deadline - Date.now() })
    const running = await runServer(launch, { cluster, settings, machine, deadline, log })
    server = running.server

    const urlOf = (database: string) =>
      `postgres://${databaseName}:${password}@127.0.0.1:${running.port}/${database}?sslmode=disable`
    await createDatabase(urlOf('postgres'), passwordFile)
    return supervise(running.server, {
      url: urlOf(databaseName),
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
      void server.ended.then((reason) => {
        if (stopped === null) listener(`Postgres ${reason}. It said last:\n${server.tail()}`)
      })
    },
  }
}

async function findOwner(cluster: string): Promise<User | null> {
  try {
    return await stat(cluster)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return null
    throw error
  }
}

/** Gives the folder to the server's user, who must be able to walk to it. */
async function handOver(folder: string, cluster: string, user: User): Promise<void> {
  for (let parent = dirname(folder); parent !== dirname(parent); parent = dirname(parent)) {
    const { mode, uid } = await stat(parent)
    const canEnter = (mode & (uid === user.uid ? 0o100 : 0o001)) !== 0
    if (!canEnter) {
      throw new Error(
        `Postgres runs as user ${user.uid} here, who may not enter ${parent}. Put the data folder elsewhere, or set DATABASE_URL.`,
      )
    }
  }
  // The lock too, so that the same user can open the folder without root's help later.
  for (const path of [folder, join(folder, 'lock')]) await chown(path, user.uid, user.gid)
  const owner = await findOwner(cluster)
  if (owner !== null && owner.uid !== user.uid) await giveTo(cluster, user)
}

function sayHowItDies(launch: ChosenLaunch, { platform, tools }: Machine, log: (line: string) => void): void {
  if (platform !== 'linux' || launch.wrap.includes(tools.setpriv)) return
  log(
    `${tools.setpriv} is missing: if this process is killed outright, its Postgres runs on until the next start.`,
  )
}

/** Also proves that the server is ours and takes our password. */
async function createDatabase(url: string, passwordFile: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  // A connection that breaks also rejects what waits on it; the event alone would end the process.
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rowCount } = await client.query('select from pg_database where datname = $1', [databaseName])
    if (rowCount === 0) await client.query(`create database ${databaseName}`)
  } catch (cause) {
    if (!hasCode(cause, '28P01')) throw cause
    throw new Error(`The database does not accept the password in ${passwordFile}.`, { cause })
  } finally {
    await client.end()
  }
}
