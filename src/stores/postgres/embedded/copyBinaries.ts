import { cpSync, existsSync } from 'node:fs'
import { readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { linkLibraries } from './linkLibraries.js'

const manifest = z.object({ version: z.string().regex(/^[\w.-]+$/) })

/**
 * Copies an npm package's programs to `binaries-<version>` in the data folder and answers that path.
 *
 * Needed where the package is read-only and lacks its links, or lies where the server's user cannot
 * reach it. The data folder is the one place that this user must reach anyway.
 */
export async function copyBinaries(packageFolder: string, folder: string): Promise<string> {
  const { version } = manifest.parse(JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')))
  const name = `binaries-${version}`
  const target = join(folder, name)
  if (existsSync(target)) return target

  for (const old of await readdir(folder)) {
    if (old.startsWith('binaries-')) await rm(join(folder, old), { recursive: true, force: true })
  }
  const half = `${target}.new`
  // Synchronous, because Node's other copy takes five times as long, and nothing else runs at a start.
  cpSync(join(packageFolder, 'native'), join(half, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
    // Archives to link against are of no use to a running server.
    filter: (source) => !source.endsWith('.a'),
  })
  await linkLibraries(half)
  await rename(half, target)
  return target
}
