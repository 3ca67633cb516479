import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const cache = fileURLToPath(new URL('../../.cache', import.meta.url))
const fetchDeadlineMs = 120_000

export interface UnpackedPackages {
  readonly folder: string
  /** For LD_LIBRARY_PATH. */
  readonly libraryPath: string
}

interface PackagesToUnpack {
  readonly name: string
  /** Including libraries that small images lack. */
  readonly packages: readonly string[]
  readonly isUsable: (unpacked: UnpackedPackages) => Promise<boolean>
}

/** Unpacks into `.cache`, downloading if necessary (no root required); null if unavailable. */
export const unpackDebianPackages = async (wanted: PackagesToUnpack): Promise<UnpackedPackages | null> =>
  (await findInCache(wanted)) ?? (await fetchToCache(wanted))

const findInCache = async ({ name, isUsable }: PackagesToUnpack): Promise<UnpackedPackages | null> => {
  const folder = join(cache, name)
  const libraries = join(folder, 'usr/lib')
  if (!existsSync(libraries)) return null
  // Architecture folder, such as x86_64-linux-gnu.
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
    // A concurrent process may have finished first; only an unusable copy is replaced.
    if ((await findInCache(wanted)) === null) {
      await rm(target, { recursive: true, force: true })
      await rename(root, target)
    }
  } catch {
    // No apt, no network, unknown packages or a lost race: the lookup below decides.
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return findInCache(wanted)
}
