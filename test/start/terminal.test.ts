import { execFileSync } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { findProgram } from '../support/program.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { startProcess } from './support.js'

const { flags, file } = findProgram(new URL('../../src/main.ts', import.meta.url))

// util-linux: runs a command in a pseudo terminal.
const hasScript = (() => {
  try {
    return execFileSync('script', ['--version'], { encoding: 'utf8' }).includes('util-linux')
  } catch {
    process.stderr.write('\n*** terminal suite SKIPPED: script of util-linux is not installed ***\n\n')
    return false
  }
})()

describe.skipIf(!hasScript)('the service in a terminal', () => {
  let database: TestDatabase
  let folder: string
  beforeAll(async () => {
    database = await createTestDatabase()
    folder = await makeTemporaryFolder('quittance-terminal-', { onDisk: true })
  })
  afterAll(async () => {
    await rm(folder, { recursive: true, force: true })
    await database.drop()
  })

  const startInTerminal = (environment: Readonly<Record<string, string>>) => {
    const command = `echo "pid $$"; exec ${[process.execPath, ...flags, file].join(' ')}`
    return startProcess(['script', '--quiet', '--return', '--command', command, '/dev/null'], {
      cwd: folder,
      environment: {
        TERM: 'xterm',
        SANDBOX: 'false',
        DATABASE_URL: database.url,
        DATA_FOLDER: folder,
        ...environment,
      },
    })
  }

  it('shows a summary, then readable lines, and a last one', async () => {
    const server = startInTerminal({ HOST: '127.0.0.1', PORT: '0', NO_COLOR: '1' })
    await server.waitFor(/Ctrl-C ends it/)
    const [, url] = await server.waitFor(/quittance \d[\s\S]*url {8}(http:\/\/127\.0\.0\.1:\d+)\r\n/)
    expect(server.text()).toContain('! No network is configured')
    await fetch(`${url}/supported`)
    await server.waitFor(/\d\d:\d\d:\d\d INFO {2}GET {2}\/supported 200 [\d.]+ ms from 127\.0\.0\.1\r\n/)
    const [, pid] = await server.waitFor(/pid (\d+)/)
    process.kill(Number(pid), 'SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0 })
    expect(server.text()).toMatch(/INFO {2}service\.stopped ranSeconds=\d+\r\n$/)
    expect(server.text()).not.toContain('{"level"')
    expect(server.text()).not.toContain('\u001B')
  })

  it('ends when its terminal goes away', async () => {
    const server = startInTerminal({ HOST: '127.0.0.1', PORT: '0' })
    await server.waitFor(/Ctrl-C ends it/)
    const [, pid] = await server.waitFor(/pid (\d+)/)
    server.child.kill('SIGKILL')
    try {
      await pollUntil(() => !isRunning(Number(pid)), 'the service to end')
    } finally {
      if (isRunning(Number(pid))) process.kill(Number(pid), 'SIGKILL')
    }
  })

  it('shows why a start failed, and colours', async () => {
    const server = startInTerminal({ HOST: '192.0.2.1', PORT: '0', FORCE_COLOR: '1' })
    expect(await server.ended).toMatchObject({ code: 1 })
    expect(server.text()).toContain('\u001B[31mERROR\u001B[0m')
    expect(server.text()).toMatch(/start\.failed.*variable=.*HOST.*is no address of this machine/)
  })
})

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
