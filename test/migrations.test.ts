import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { migrationsFolder } from '../src/stores/stores.js'
import { readText } from './support/sourceFiles.js'

const files = readdirSync(migrationsFolder)
  .filter((name) => name.endsWith('.sql'))
  .sort()

/** By file, as `sha256sum` prints them. */
const digests = new Map(
  readText('migrations/digests')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [digest = '', name = ''] = line.split('  ')
      return [name, digest]
    }),
)

describe('migrations that landed', () => {
  it('are as they were: installations have applied them', () => {
    const changed = files.filter((name) => {
      const sha256 = createHash('sha256')
        .update(readText(`migrations/${name}`).replaceAll('\r\n', '\n'))
        .digest('hex')
      return digests.has(name) && digests.get(name) !== sha256
    })
    expect(changed).toEqual([])
  })

  it('are all in migrations/digests, to which a new one is appended with sha256sum', () => {
    expect([...digests.keys()].sort()).toEqual(files)
  })
})
