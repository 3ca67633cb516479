import { chmod, mkdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { findProgram } from '../support/program.js'
import { reservePort } from '../support/reservePort.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'
import { startProcess } from './support.js'

const { flags, file } = findProgram(new URL('../../src/main.ts', import.meta.url))
const nobody = 65_534

let database: TestDatabase
let folder: string
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  folder = await makeTemporaryFolder('quittance-start-', { onDisk: true })
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Ends by itself; `event` is its last line. */
const startInVain = async (environment: Readonly<Record<string, string>>, uid?: number) => {
  const { ended } = startProcess([process.execPath, ...flags, file], {
    cwd: folder,
    environment: { DATA_FOLDER: join(folder, 'data'), HOST: '127.0.0.1', PORT: '0', ...environment },
    ...(uid === undefined ? {} : { uid }),
  })
  const { code, output, errors } = await ended
  const lines = output.trimEnd().split('\n')
  return { code, errors, event: JSON.parse(lines.at(-1) ?? ''), output }
}

const failure = (variable: string, problem: RegExp) => ({
  level: 'error',
  time: expect.any(String),
  variable,
  problem: expect.stringMatching(problem),
  msg: 'start.failed',
})

describe('a start that fails', () => {
  it('names DATABASE_URL when no database listens there', async () => {
    const port = await reservePort()
    const DATABASE_URL = `postgres://ada:hunter2@127.0.0.1:${port}/payments`
    const { code, errors, event, output } = await startInVain({ DATABASE_URL })
    expect(code).toBe(1)
    expect(errors).toBe('')
    expect(event).toEqual(failure('DATABASE_URL', /^no server listens at 127\.0\.0\.1:\d+\./))
    expect(output).not.toContain('hunter2')
  })

  it('names DATABASE_URL when the database does not exist', async () => {
    const DATABASE_URL = database.url.replace(/\/[^/?]+(\?|$)/, '/missing$1')
    const { code, event } = await startInVain({ DATABASE_URL })
    expect(code).toBe(1)
    expect(event).toEqual(failure('DATABASE_URL', /^the database "missing" does not exist at /))
  })

  it('names PORT when the port is in use, and closes the database that it opened', async () => {
    const other = createServer()
    const port = await new Promise<number>((resolve) => {
      other.listen(0, '127.0.0.1', () => {
        const address = other.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    try {
      const { code, event } = await startInVain({
        DATABASE_URL: database.url,
        SANDBOX: 'false',
        PORT: String(port),
      })
      expect(code).toBe(1)
      expect(event).toEqual(failure('PORT', new RegExp(`^port ${port} is in use by another program\\.`)))
      const { rows } = await database.pool().query('select from instances')
      expect(rows).toHaveLength(0)
    } finally {
      other.close()
    }
  })

  it('names HOST when the address is not one of this machine, even where the log is silent', async () => {
    const variables = { DATABASE_URL: database.url, SANDBOX: 'false', HOST: '192.0.2.1', LOG_LEVEL: 'silent' }
    const { code, event } = await startInVain(variables)
    expect(code).toBe(1)
    expect(event).toEqual(failure('HOST', /^"192\.0\.2\.1" is no address of this machine/))
  })

  it('names every variable that cannot be used, in the format of the log', async () => {
    const { code, errors, event } = await startInVain({ PORT: 'http', LOG_LEVEL: 'loud' })
    expect({ code, errors }).toEqual({ code: 1, errors: '' })
    expect(event).toMatchObject({
      level: 'error',
      problems: [expect.stringMatching(/^PORT: /), expect.stringMatching(/^LOG_LEVEL: /)],
      msg: 'start.failed',
    })
  })

  it('names what in the file .env is no setting, beside every other problem', async () => {
    await writeFile(
      join(folder, '.env'),
      "# Ours\nLOGLEVEL='debug'\nexport SHOP_NAME=hunter2\nNODE_ENV=production\n",
    )
    const { code, event, output } = await startInVain({ PORT: 'http', QUITTANCE_PORT: 'tcp://10.0.0.1:8080' })
    expect(code).toBe(1)
    expect(event.problems.toSorted()).toEqual([
      expect.stringMatching(/^LOGLEVEL: is not a known setting; did you mean LOG_LEVEL\? .* from \.env/),
      expect.stringMatching(/^PORT: /),
      expect.stringMatching(/^SHOP_NAME: is not a known setting; remove it from \.env/),
    ])
    expect(output).not.toContain('hunter2')
  })

  it.skipIf(process.getuid?.() !== 0).each<[string, () => Promise<void>]>([
    ['is a file', () => writeFile(join(folder, 'data'), '')],
    [
      'belongs to another user',
      async () => {
        await mkdir(join(folder, 'data'))
        await chmod(join(folder, 'data'), 0o755)
      },
    ],
    [
      'holds a database of another user',
      async () => {
        await mkdir(join(folder, 'data', 'postgres', 'cluster'), { recursive: true })
        await writeFile(join(folder, 'data', 'key-encryption-secret'), `${'ab'.repeat(32)}\n`)
        await chmod(join(folder, 'data', 'postgres'), 0o700)
      },
    ],
  ])('names DATA_FOLDER when it %s', async (what, prepare) => {
    await prepare()
    const { code, event } = await startInVain({}, nobody)
    expect(code).toBe(1)
    expect(event).toEqual(failure('DATA_FOLDER', /./))
    expect(event.problem).not.toMatch(/EACCES|EPERM|ENOTDIR|EEXIST/)
    if (what === 'is a file') return
    expect(event.problem).toMatch(/data\S* belongs to uid 0, and this process runs as uid 65534/)
  })

  it.skipIf(process.platform !== 'linux')(
    'names DATA_FOLDER where no folder can be made, and does not hang',
    async () => {
      const variants = [{}, { KEY_ENCRYPTION_SECRET: 'a-secret-of-32-characters-or-more' }]
      const starts = variants.map((variables) =>
        startInVain({ DATA_FOLDER: '/proc/quittance', ...variables }),
      )
      for (const { code, event } of await Promise.all(starts)) {
        expect(code).toBe(1)
        expect(event).toEqual(failure('DATA_FOLDER', /\/proc\/quittance/))
      }
    },
  )

  it('goes on without Redis, and names REDIS_URL in a warning', async () => {
    const server = startProcess([process.execPath, ...flags, file], {
      cwd: folder,
      environment: {
        DATA_FOLDER: folder,
        DATABASE_URL: database.url,
        SANDBOX: 'false',
        HOST: '127.0.0.1',
        PORT: '0',
        REDIS_URL: `redis://:hunter2@127.0.0.1:${await reservePort()}`,
      },
    })
    const [line] = await server.waitFor(/.*"msg":"redis\.degraded".*/)
    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      variable: 'REDIS_URL',
      problem: expect.stringMatching(/^127\.0\.0\.1:\d+: no server listens there$/),
    })
    await server.waitFor(/"msg":"service\.listening"/)
    server.child.kill('SIGTERM')
    expect(await server.ended).toMatchObject({ code: 0 })
    expect(server.text()).not.toContain('hunter2')
  })
})
