import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { readCodeBlocks } from '../support/markdown.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { makeInstallation, startProcess } from './support.js'

let folder: string
beforeEach(async () => {
  folder = await makeTemporaryFolder('quittance-sandbox-', { onDisk: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const guide = fileURLToPath(new URL('../../docs/sandbox.md', import.meta.url))

/** The commands of the guide's first payment. */
const readCommands = (): string => {
  const blocks = readCodeBlocks(readFileSync(guide, 'utf8')).filter((each) => each.includes('pay.json'))
  const [block, ...others] = blocks
  if (block === undefined || others.length > 0) throw new Error('The guide has no single first payment')
  return block
}

describe('npm start without any setting', () => {
  it('says that it is a sandbox, and answers the first ten minutes of its guide as the guide says', async () => {
    await makeInstallation(folder)
    const environment = { HOST: '127.0.0.1', PORT: '0', DATA_FOLDER: join(folder, 'data') }
    const server = startProcess(['npm', 'start'], { cwd: folder, environment })
    try {
      await server.waitFor(/"msg":"sandbox\.enabled/)
      const [, port] = await server.waitFor(/"port":(\d+),"msg":"service\.listening"/)
      const commands = readCommands().replaceAll('localhost:8080', `127.0.0.1:${port}`)
      const separated = commands.trim().split('\n').join('\necho; echo ----\n')
      const output = execFileSync('bash', ['-e', '-c', separated], { cwd: folder, encoding: 'utf8' })
      const [supported, , verified, settled, replayed, duplicate] = output.split('\n----\n')
      expect(JSON.parse(supported ?? '')).toMatchObject({ sandbox: true })
      expect(JSON.parse(verified ?? '')).toMatchObject({ sandbox: true, isValid: true })
      const { transaction } = JSON.parse(settled ?? '')
      expect(JSON.parse(settled ?? '')).toMatchObject({ sandbox: true, success: true })
      expect(replayed).toMatch(/x-idempotency-replayed: true/i)
      expect(replayed).toContain(transaction)
      expect(JSON.parse(duplicate ?? '')).toMatchObject({
        success: false,
        errorReason: 'duplicate_settlement',
        transaction,
      })
    } finally {
      server.child.kill('SIGTERM')
      await server.ended
    }
  })
})
