import { readFile, symlink } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { z } from 'zod'
import { hasCode } from './hasCode.js'

const links = z.array(z.object({ source: z.string(), target: z.string() }))

/**
 * Makes the library links that the package's install script makes, for installs that run no scripts.
 * Answers false when a link is missing and the folder cannot be written.
 */
export async function linkLibraries(packageFolder: string): Promise<boolean> {
  try {
    for (const { source, target } of await readLinks(packageFolder)) {
      await linkOnce(relative(dirname(target), source), join(packageFolder, target))
    }
    return true
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS')) return false
    throw error
  }
}

async function readLinks(packageFolder: string): Promise<z.infer<typeof links>> {
  try {
    return links.parse(JSON.parse(await readFile(join(packageFolder, 'native', 'pg-symlinks.json'), 'utf8')))
  } catch (error) {
    // Windows packages have no links, and no list of them.
    if (hasCode(error, 'ENOENT')) return []
    throw error
  }
}

async function linkOnce(source: string, path: string): Promise<void> {
  try {
    await symlink(source, path)
  } catch (error) {
    // Present already, be it from the install script or from a process that starts beside us.
    if (!hasCode(error, 'EEXIST')) throw error
  }
}
