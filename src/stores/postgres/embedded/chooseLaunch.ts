import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import { chownRecursive } from './dataFolder.js'
import {
  copyBinaries,
  createLibraryLinks,
  type Launch,
  type Machine,
  runProgram,
  type User,
} from './machine.js'

export interface ChosenLaunch extends Launch {
  readonly major: number
}

/** The user `nobody` on Linux: owns no files and exists in every image. */
const nobody: User = { uid: 65534, gid: 65534 }

/** Tries `postgres --version` with each candidate; throws with every attempt. */
export async function chooseLaunch(
  machine: Machine,
  { folder, owner }: { folder: string; owner: User | null },
): Promise<ChosenLaunch> {
  const failures: string[] = []
  const launches = listLaunches(machine, owner)
  const tryLaunches = async (origin: string, bin: string, beforeTry?: (user: User) => Promise<void>) => {
    for (const candidate of launches) {
      const launch = { ...candidate, bin }
      try {
        if (launch.user !== null) await beforeTry?.(launch.user)
        return { ...launch, major: await readMajor(launch, machine.startDeadlineMs) }
      } catch (error) {
        const words = [
          ...candidate.prefix,
          ...(candidate.user === null ? [] : [`as user ${candidate.user.uid}`]),
        ].join(' ')
        failures.push(`${origin}${words === '' ? '' : ` with ${words}`}: ${lastLine(error)}`)
      }
    }
    return null
  }

  for (const { origin, bin, packageFolder } of machine.binaries) {
    const isLinked = packageFolder === null || (await createLibraryLinks(packageFolder))
    const inPlace = isLinked ? await tryLaunches(origin, bin) : null
    if (inPlace !== null) return inPlace
    if (packageFolder === null) continue

    const copy = await copyBinaries(packageFolder, folder)
    const copied = await tryLaunches(`a copy of the ${origin}`, join(copy, 'native', 'bin'), async (user) => {
      await chown(folder, user.uid, user.gid)
      await chownRecursive(copy, user)
    })
    if (copied !== null) return copied
  }

  const reason = failures.length === 0 ? 'none are installed' : failures.join('; ')
  throw new NoBinariesError(
    `No usable Postgres binaries for the embedded database (${reason}). Set DATABASE_URL to a Postgres server, ` +
      'or install the optional npm dependencies or your system’s postgresql package.',
  )
}

/** The embedded database is not part of this installation, or does not run on this machine. */
export class NoBinariesError extends Error {}

// Postgres refuses to run as root. In a user namespace without mappings root has a non-zero uid and still
// owns its files. Docker's default seccomp profile blocks namespaces: there the server runs as `nobody`.
function listLaunches(
  { platform, userId, tools }: Machine,
  owner: User | null,
): readonly Omit<Launch, 'bin'>[] {
  if (platform !== 'linux') return [{ prefix: [], user: null }]
  const deathSignal = [tools.setpriv, '--pdeathsig', 'INT']
  if (userId !== 0) return [deathSignal, []].map((prefix) => ({ prefix, user: null }))

  const asUser = (user: User) => [deathSignal, []].map((prefix) => ({ prefix, user }))
  if (owner !== null && owner.uid !== 0) return asUser(owner)
  // setpriv must run inside unshare: a change of credentials clears the parent-death signal.
  const inNamespace = [deathSignal, []].map((prefix) => ({
    prefix: [tools.unshare, '-U', ...prefix],
    user: null,
  }))
  return [...inNamespace, ...asUser(nobody)]
}

async function readMajor(launch: Launch, timeoutMs: number): Promise<number> {
  const text = await runProgram(launch, { program: 'postgres', args: ['--version'], timeoutMs })
  const major = /\(PostgreSQL\) (\d+)/.exec(text)?.[1]
  if (major === undefined) throw new Error(`unknown version "${text.trim()}"`)
  return Number(major)
}

function lastLine(error: unknown): string {
  return (
    String(error instanceof Error ? error.message : error)
      .trim()
      .split('\n')
      .at(-1) ?? ''
  )
}
