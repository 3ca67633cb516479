import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('..', import.meta.url))

/** In dist: the fingerprint of the sources that it was built from. */
export const stampName = '.sources'

/** SHA-256 of everything that decides what dist contains. By content: times of a checkout or a copy say nothing. */
export const fingerprintSources = () => {
  const hash = createHash('sha256')
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('src', name))
    .sort()
  // The lock file decides which packages are part of dist.
  const recipe = ['scripts/bundle.mjs', 'tsconfig.json', 'tsconfig.build.json', 'package-lock.json']
  for (const path of [...recipe, ...sources]) {
    if (!existsSync(join(root, path))) continue
    const content = readFileSync(join(root, path))
    hash.update(`${path}\0${content.length}\0`).update(content)
  }
  return hash.digest('hex')
}

/** An installation without sources, such as the image, has only dist: it matches. */
export const isBuilt = () => {
  const main = join(root, 'dist', 'main.js')
  if (!existsSync(main)) return false
  if (!existsSync(join(root, 'src'))) return true
  const stamp = join(root, 'dist', stampName)
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === fingerprintSources()
}

/** Of whatever sources: enough for what depends on no source, such as --help. */
export const hasDist = () => existsSync(join(root, 'dist', 'main.js'))
