import { statSync } from 'node:fs'
import { dirname, resolve } from 'node:path'

export interface ForeignOwner {
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
