import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { startFacilitator } from '../support/facilitator.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

it('fails with the last output of a service that ended before it was ready, whatever the limit', async () => {
  const file = join(await makeTemporaryFolder('ended-'), 'ended.mjs')
  await writeFile(file, `console.log('no disk'); console.error('giving up'); process.exitCode = 3`)
  const lines: string[] = []
  const started = startFacilitator({}, (line) => lines.push(line), {
    program: { flags: [], file },
    startLimitMs: Number.POSITIVE_INFINITY,
  })
  await expect(started).rejects.toThrow(
    /^The facilitator did not start:\n(?=[\s\S]*no disk)(?=[\s\S]*giving up)/,
  )
  expect(lines).toEqual(['no disk'])
})
