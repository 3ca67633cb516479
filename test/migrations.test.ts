import { createHash } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { readMigrations } from '../src/stores/postgres/database/migrationFiles.js'
import { migrationsFolder } from '../src/stores/stores.js'
import { readText } from './support/readText.js'
import { makeTemporaryFolder } from './support/temporaryFolder.js'

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

const lastWithoutStatement = 39

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

describe('migrations after 0039', () => {
  it('say in their first lines which versions run beside them, or that none does', () => {
    const silent = files
      .filter((name) => Number(name.slice(0, 4)) > lastWithoutStatement && !name.endsWith('.backfill.sql'))
      .filter(
        (name) =>
          !/^(-- quittance: .*\n)*-- quittance: runs (alone|beside \d{4})\n/.test(
            readText(`migrations/${name}`),
          ),
      )
    expect(silent).toEqual([])
  })

  it('wait only for backfills that an earlier one has', async () => {
    const migrations = await readMigrations(migrationsFolder)
    const unknown = migrations.filter(
      ({ afterBackfill, number }) =>
        afterBackfill !== null &&
        !migrations.some((other) => other.number < number && other.backfill?.name === afterBackfill),
    )
    expect(unknown.map(({ name }) => name)).toEqual([])
  })
})

describe('the files of a folder that a URL names', () => {
  it('are read once, but again after a failure', async () => {
    const folder = await makeTemporaryFolder('migrations-')
    const where = pathToFileURL(`${folder}/later/`)
    await expect(readMigrations(where)).rejects.toThrow('ENOENT')
    await mkdir(join(folder, 'later'))
    await writeFile(join(folder, 'later', '0001_make_a.sql'), 'create table a ();')
    const migrations = await readMigrations(where)
    expect(migrations.map(({ name }) => name)).toEqual(['0001_make_a.sql'])
    expect(await readMigrations(where)).toBe(migrations)
    await rm(folder, { recursive: true })
  })
})
