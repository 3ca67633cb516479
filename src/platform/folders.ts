import { statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'

interface ForeignOwner {
  /** Such as `/data belongs to uid 0, and this process runs as uid 1000`. */
  readonly text: string
  /** A command for an administrator. */
  readonly remedy: string
}

/** Of the path, or of the nearest of its parents that exists. Null: it belongs to this user, or users have no numbers. */
export const findForeignOwner = (path: string): ForeignOwner | null => {
  const own = process.getuid?.()
  if (own === undefined) return null
  for (let place = resolve(path); ; place = dirname(place)) {
    const owner = findOwner(place)
    if (owner !== null) {
      if (owner === own) return null
      const text = `${place} belongs to uid ${owner}, and this process runs as uid ${own}`
      return { text, remedy: `chown -R ${own} ${place}` }
    }
    if (place === dirname(place)) return null
  }
}

const findOwner = (path: string): number | null => {
  try {
    return statSync(path).uid
  } catch {
    return null
  }
}

/**
 * Creates the folder and its parents; `mode` is for the folder itself. Node's own `recursive` never returns where the
 * file system answers ENOENT to every mkdir, such as /proc.
 */
export const makeFolder = async (path: string, mode?: number): Promise<void> => {
  const missing: string[] = []
  for (let folder = resolve(path); !(await isFolder(folder)); folder = dirname(folder))
    missing.unshift(folder)
  for (const folder of missing) {
    await mkdir(folder, folder === resolve(path) ? { mode } : {}).catch(async (error: unknown) => {
      // Another process may have created it.
      if (!(await isFolder(folder))) throw error
    })
  }
}

/** Rejects when a file is in the way, or a folder on the way cannot be entered. */
const isFolder = async (path: string): Promise<boolean> => {
  try {
    const found = await stat(path)
    if (found.isDirectory()) return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
  throw Object.assign(new Error(`${path} is a file`), { code: 'ENOTDIR' })
}
