import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

/** Of a file, whose path begins at the project root. */
export const readText = (path: string): string => readFileSync(posix.join(root, path), 'utf8')
