import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ChosenLaunch } from './chooseLaunch.js'
import { runToEnd } from './launch.js'

/** The superuser and the database that the application uses. */
export const databaseName = 'quittance'

/**
 * Creates the cluster unless it exists. It appears whole or not at all: a crash leaves a
 * `cluster.new-…`, which a later start removes.
 *
 * @throws a sentence when the existing cluster was made by another major version
 */
export async function createCluster(
  launch: ChosenLaunch,
  options: { cluster: string; passwordFile: string; initdbArgs: readonly string[]; timeoutMs: number },
): Promise<void> {
  const { cluster } = options
  if (existsSync(cluster)) return checkVersion(cluster, launch)

  // A name of its own: the initdb of a killed start may still be busy, and it removes its folder at its end.
  await removeHalves(cluster)
  const half = `${cluster}.new-${randomBytes(4).toString('hex')}`
  const standing = ['-D', half, '-U', databaseName, `--pwfile=${options.passwordFile}`, '--no-instructions']
  const contents = ['-A', 'scram-sha-256', '-E', 'UTF8', '--locale=C', '--data-checksums']
  const args = [...standing, ...contents, ...options.initdbArgs]
  try {
    await runToEnd(launch, { program: 'initdb', args, timeoutMs: options.timeoutMs })
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new Error(`Postgres could not create its data folder ${cluster}: ${reason}`, { cause })
  }
  await rename(half, cluster)
  await syncFolder(dirname(cluster))
}

async function removeHalves(cluster: string): Promise<void> {
  const folder = dirname(cluster)
  const halves = (await readdir(folder)).filter((name) => name.startsWith(`${basename(cluster)}.new`))
  for (const half of halves) {
    // One that is still written to is left for the next start.
    await rm(join(folder, half), { recursive: true, force: true }).catch(() => undefined)
  }
}

async function checkVersion(cluster: string, launch: ChosenLaunch): Promise<void> {
  const text = await readFile(join(cluster, 'PG_VERSION'), 'utf8').catch(() => '')
  const version = text.trim()
  if (version === String(launch.major)) return
  if (version === '') throw new Error(`${cluster} is not a Postgres data folder: it has no PG_VERSION.`)
  throw new Error(
    `The data in ${cluster} was made by Postgres ${version}, and this is Postgres ${launch.major} (${launch.bin}). ` +
      'Move the data with pg_dump and pg_restore, or set DATABASE_URL to a server of that version.',
  )
}

/** Makes a rename durable; Windows has no such call, and opens no folders. */
async function syncFolder(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}
