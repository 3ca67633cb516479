import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

describe('the setup of the fast tests', () => {
  it('refuses to start a process', async () => {
    // In a process of its own: the setup cannot be undone.
    const program = `
      await import('./test/support/refuseProcesses.ts')
      const { spawn } = await import('node:child_process')
      spawn('true')`
    const args = ['--import', 'tsx', '--input-type=module', '--eval', program]
    await expect(promisify(execFile)(process.execPath, args)).rejects.toThrow(
      'A fast test must not start a process',
    )
  })
})
