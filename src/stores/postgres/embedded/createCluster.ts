import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { ChosenLaunch } from './chooseLaunch.js'
import { runProgram } from './launch.js'

/** The superuser and the application database have this name. */
export const databaseName = 'quittance'

/** Atomic: a crash leaves a `cluster.new-…` folder, which a later start removes. */
export async function createCluster(
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
