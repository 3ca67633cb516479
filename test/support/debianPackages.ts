import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const cache = fileURLToPath(new URL('../../.cache', import.meta.url))
const fetchDeadlineMs = 120_000

/** Programs of the distribution that were unpacked rather than installed. */
export interface UnpackedPackages {
  readonly folder: string
  /** The libraries that came along, as the dynamic linker wants them told. */
  readonly libraryPath: string
}

/** Packages of Debian, where to keep them, and what proves that a copy works. */
export interface PackagesToUnpack {
  readonly name: string
  /** All that the programs need beyond what every system has. */
  readonly packages: readonly string[]
  readonly isUsable: (unpacked: UnpackedPackages) => Promise<boolean>
}

/** Answers the packages unpacked in the cache, fetching them first if need be, which needs no root; else null. */
export const unpackDebianPackages = async (wanted: PackagesToUnpack): Promise<UnpackedPackages | null> =>
  (await findInCache(wanted)) ?? (await fetchToCache(wanted))

const findInCache = async ({ name, isUsable }: PackagesToUnpack): Promise<UnpackedPackages | null> => {
  const folder = join(cache, name)
  const libraries = join(folder, 'usr/lib')
  if (!existsSync(libraries)) return null
  // The folder is named after the architecture, as in x86_64-linux-gnu.
  const folders = (await readdir(libraries)).filter((each) => each.includes('-linux-'))
  const unpacked = { folder, libraryPath: folders.map((each) => join(libraries, each)).join(':') }
  return (await isUsable(unpacked)) ? unpacked : null
}

const fetchToCache = async (wanted: PackagesToUnpack): Promise<UnpackedPackages | null> => {
  const run = promisify(execFile)
  const target = join(cache, wanted.name)
  await mkdir(dirname(target), { recursive: true })
  const folder = await mkdtemp(join(dirname(target), `${basename(target)}-`))
  const root = join(folder, 'root')
  try {
    await run('apt-get', ['download', ...wanted.packages], { cwd: folder, timeout: fetchDeadlineMs })
    for (const name of await readdir(folder)) {
      if (name.endsWith('.deb')) await run('dpkg', ['-x', name, root], { cwd: folder })
    }
    // Another process may have been first, and its copy is as good; one that does not run is replaced.
    if ((await findInCache(wanted)) === null) {
      await rm(target, { recursive: true, force: true })
      await rename(root, target)
    }
  } catch {
    // No apt, no network, other package names, or a race that was lost: what counts is what is there now.
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return findInCache(wanted)
}
