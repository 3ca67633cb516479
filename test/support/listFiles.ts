import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Paths from the project root of all files under a folder, sorted, without installed packages. */
export const listFiles = (folder: string): readonly string[] => [...walk(folder)].sort()

function* walk(folder: string): Generator<string> {
  for (const entry of readdirSync(posix.join(root, folder), { withFileTypes: true })) {
    const path = posix.join(folder, entry.name)
    if (!entry.isDirectory()) yield path
    else if (entry.name !== 'node_modules') yield* walk(path)
  }
}
