import { chmod, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { getSealingSecret } from '../../src/platform/openSealers.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

describe('the encryption secret of a data folder', () => {
  let parent: string
  let folder: string
  let path: string

  beforeEach(async () => {
    parent = await makeTemporaryFolder('quittance-secret-')
    folder = join(parent, 'data')
    path = join(folder, 'key-encryption-secret')
  })
  afterEach(() => rm(parent, { recursive: true }))

  it('is created once, readable by its owner only', async () => {
    const first = await getSealingSecret(folder)
    expect(first.reveal()).toMatch(/^[0-9a-f]{64}$/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    expect((await getSealingSecret(folder)).reveal()).toBe(first.reveal())
    expect((await readFile(path, 'utf8')).trim()).toBe(first.reveal())
  })

  it('is the same for concurrent starts, without leftover files', async () => {
    for (let round = 0; round < 10; round += 1) {
      const own = join(folder, String(round))
      const all = await Promise.all(
        Array.from({ length: 20 }, async (_none, index) => {
          for (let turn = 0; turn < index; turn += 1) await new Promise(setImmediate)
          return getSealingSecret(own)
        }),
      )
      expect(new Set(all.map((secret) => secret.reveal())).size).toBe(1)
      expect(await readdir(own)).toEqual(['key-encryption-secret'])
    }
  })

  it('gets its file mode restored', async () => {
    await getSealingSecret(folder)
    await chmod(path, 0o644)
    await getSealingSecret(folder)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  })

  it.each(['', 'ab', 'not a secret of ours'])(
    'is never replaced: a file that holds %j stops the start',
    async (text) => {
      await getSealingSecret(folder)
      await writeFile(path, text)
      await expect(getSealingSecret(folder)).rejects.toThrow(/does not contain a valid secret/)
      expect(await readFile(path, 'utf8')).toBe(text)
    },
  )

  it('that cannot be stored fails with instructions', async () => {
    await writeFile(folder, 'a file where the folder should be')
    await expect(getSealingSecret(folder)).rejects.toThrow(/Set KEY_ENCRYPTION_SECRET/)
  })
})
