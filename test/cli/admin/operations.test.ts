import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createSettlementJournal } from '../../../src/stores/postgres/journal/settlementJournal.js'
import { runAdminCommand as admin } from '../../support/adminCommand.js'
import { claimOf } from '../../support/claimOf.js'
import { environmentFor } from '../../support/core.js'
import { emptyTables } from '../../support/emptyTables.js'
import { type LocalChain, startLocalChain } from '../../support/evm/localChain.js'
import { addInstance } from '../../support/instances.js'
import { insertJournalRows } from '../../support/journalRows.js'
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js'
import { reservePort } from '../../support/reservePort.js'
import { makeTemporaryFolder } from '../../support/temporaryFolder.js'

const findings = z.array(z.object({ level: z.string(), subject: z.string(), text: z.string() }))

describe('admin, where there is no quittance data,', () => {
  let folder: string
  beforeAll(async () => {
    folder = await makeTemporaryFolder('quittance-admin-')
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it.each([
    ['keys', 'list'],
    ['settlements', 'list'],
    ['backup', 'file'],
  ])('refuses %s %s with exit code 2 and creates no data folder', async (...words) => {
    const data = join(folder, 'misspelt')
    const { code, output } = await admin(words, { DATA_FOLDER: data })
    expect(code).toBe(2)
    expect(output).toContain(`The data folder ${data} holds no quittance data. Set DATA_FOLDER`)
    expect(existsSync(data)).toBe(false)
  })

  it('refuses the database of another program, and creates no table in it', async () => {
    const database = await createTestDatabase()
    try {
      await database
        .pool()
        .query('drop schema public cascade; create schema public; create table notes (id int)')
      const { code, output } = await admin(['keys', 'list'], { DATABASE_URL: database.url })
      expect(code).toBe(2)
      expect(output).toMatch(/of DATABASE_URL holds no quittance data, but tables of another program/)
      expect(output).not.toContain('postgres://')
      const { rows } = await database
        .pool()
        .query(`select relname from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`)
      expect(rows).toEqual([{ relname: 'notes' }])
    } finally {
      await database.drop()
    }
  })
})

describe('admin settlements', () => {
  let database: TestDatabase
  const payer = '0xAbCdEf0000000000000000000000000000000001'
  let own: string
  beforeAll(async () => {
    database = await createTestDatabase()
    const pool = database.pool()
    const journal = createSettlementJournal(pool, await addInstance(pool))
    own =
      (await journal.claim(claimOf({ network: 'eip155:8453', payer, amount: 7n, authorizedAmount: 10n })))
        ?.id ?? ''
    await journal.recorderFor(own).record({ transaction: '0xfeed', bytes: '0xb17e5' })
    const other = await journal.claim(claimOf({ network: 'eip155:1' }))
    await journal.abandon(other?.id ?? '')
  })
  afterAll(() => database.drop())
  const run = (...words: readonly string[]) =>
    admin(['settlements', ...words], { DATABASE_URL: database.url })
  const ids = async (...words: readonly string[]) => {
    const { code, output } = await run('list', ...words, '--json')
    expect(code).toBe(0)
    return z
      .array(z.looseObject({ id: z.string() }))
      .parse(JSON.parse(output))
      .map(({ id }) => id)
  }

  it('lists the newest first, and filters by status, network and payer in any case', async () => {
    expect(await ids()).toHaveLength(2)
    expect(await ids('--status', 'pending')).toEqual([own])
    expect(await ids('--network', 'eip155:8453')).toEqual([own])
    expect(await ids('--payer', payer.toLowerCase())).toEqual([own])
    expect(await ids('--limit', '1')).not.toEqual([own])
    expect(await ids('--status', 'confirmed')).toEqual([])
  })

  it('lists what is moved, and of how much where that differs', async () => {
    const { output } = await run('list')
    expect(output).toMatch(new RegExp(`^${own} .* eip155:8453 +7 of 10 `, 'm'))
    expect(output).toMatch(/ eip155:1 +1 /)
  })

  it('shows one with its transactions, without signed bytes', async () => {
    const { code, output } = await run('show', own)
    expect(code).toBe(0)
    expect(output).toMatch(/^state +pending$/m)
    expect(output).toMatch(/^transactions +\["0xfeed"\]$/m)
    expect(output).not.toContain('0xb17e5')
    const json = await run('show', own, '--json')
    expect(JSON.parse(json.output)).toMatchObject({ id: own, amount: expect.stringMatching(/^\d+$/) })
    const id = randomUUID()
    expect(await run('show', id)).toEqual({ code: 1, output: `Settlement ${id} does not exist.` })
  })

  it.each([
    { words: ['list', '--status', 'lost'], message: 'The statuses are' },
    { words: ['list', '--limit', '0'], message: '--limit must be' },
    { words: ['show', 'one'], message: 'given by its id' },
    { words: ['close'], message: 'settlements list and settlements show' },
    { words: ['show', randomUUID(), '--status', 'failed'], message: 'takes filters' },
  ])('refuses $words', async ({ words, message }) => {
    const { code, output } = await run(...words)
    expect(code).toBe(1)
    expect(output).toContain(message)
  })
})

describe('admin check', () => {
  let chain: LocalChain
  let database: TestDatabase
  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
    database = await createTestDatabase()
  })
  afterAll(async () => {
    await database.drop()
    await chain.stop()
  })
  const check = async (environment: Readonly<Record<string, string>>) => {
    const { code, output } = await admin(['check', '--json'], environment)
    return { code, found: findings.parse(JSON.parse(output)) }
  }
  const levelsOf = (found: z.infer<typeof findings>, subject: string) =>
    found.filter((each) => each.subject === subject).map(({ level, text }) => `${level} ${text}`)

  it('reports configuration, stores, nodes, balances and clock, and takes no lane', async () => {
    const environment = environmentFor({ chain, databaseUrl: database.url })
    const { code, found } = await check(environment)
    expect(code).toBe(0)
    expect(levelsOf(found, 'configuration')[0]).toBe('ok valid, 1 chain families')
    expect(levelsOf(found, 'database')[0]).toMatch(/^ok Postgres \d\d$/)
    expect(levelsOf(found, 'migrations')[0]).toMatch(/^ok \d+ applied$/)
    expect(levelsOf(found, 'clock')[0]).toMatch(/^ok agrees with the database within/)
    const nodes = levelsOf(found, chain.network).join('\n')
    expect(nodes).toMatch(/^ok 1 of 1 endpoints answer, newest block \d+$/m)
    expect(nodes).toMatch(/^ok signer 0x\w{40}: balance \d+, about \d+ settlements$/m)
    const { rows } = await database.pool().query('select network from signer_lanes')
    expect(rows).toEqual([])
    const { output } = await admin(['check'], environment)
    expect(output).toMatch(/^ok +database +Postgres \d\d$/m)
    expect(output).toMatch(/\d+ ok, \d+ warnings, 0 errors\n$/)
  })

  it('exits with code 1 where a network has none of its tokens, with the variable that names them', async () => {
    const [, chainId] = chain.network.split(':')
    const missing = '0x00000000000000000000000000000000000a11ce'
    const { code, found } = await check({
      ...environmentFor({ chain, databaseUrl: database.url }),
      [`EVM_TOKENS_${chainId}`]: missing,
    })
    expect(code).toBe(1)
    expect(levelsOf(found, chain.network)).toContain(
      `error does not settle: the network has none of the tokens: check EVM_TOKENS_${chainId}`,
    )
  })

  it('reports every invalid variable and exits with code 1', async () => {
    const { code, found } = await check({ PORT: 'x', REGISTRATION: 'all' })
    expect(code).toBe(1)
    expect(levelsOf(found, 'configuration').map((line) => line.split(':')[0])).toEqual([
      'error PORT',
      'error REGISTRATION',
    ])
  })

  it('ends within its deadlines when a node accepts connections and never answers, and Redis is away', async () => {
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : 0
    // Without deadlines of its own, the command waits for the node until this test's limit.
    const { code, found } = await check({
      ...environmentFor({ chain, databaseUrl: database.url }),
      [`EVM_RPC_URL_${chain.network.split(':')[1]}`]: `http://127.0.0.1:${port}`,
      EVM_RPC_TIMEOUT_MS: '300',
      REDIS_URL: `redis://127.0.0.1:${await reservePort()}`,
    })
    silent.close()
    expect(code).toBe(1)
    expect(levelsOf(found, chain.network)[0]).toMatch(/^error /)
    expect(levelsOf(found, 'redis')[0]).toMatch(/^error +127\.0\.0\.1:\d+: no server listens there$/)
  })

  it('reports an unreachable database, and a secret that does not open the keys', async () => {
    const away = await check({
      DATABASE_URL: `postgres://ada:hidden-password@127.0.0.1:${await reservePort()}/x`,
      SANDBOX: 'false',
    })
    expect(away.code).toBe(1)
    expect(levelsOf(away.found, 'database')).toEqual([
      'error The database of DATABASE_URL does not answer (ECONNREFUSED).',
    ])
    const real = { DATABASE_URL: database.url, SANDBOX: 'false' }
    await database.pool().query("insert into sealing_secret (mark) values ('\\x00')")
    const other = await check({ ...real, KEY_ENCRYPTION_SECRET: 'k'.repeat(32) })
    expect(levelsOf(other.found, 'encryption')[0]).toMatch(/^error .*another secret/)
    const missing = await check({ ...real, DATA_FOLDER: '/nonexistent' })
    expect(levelsOf(missing.found, 'encryption')[0]).toMatch(/^error .*is missing/)
    await emptyTables(database.pool(), 'sealing_secret')
  })

  it('warns before the first start, reports pending migrations, and applies none', async () => {
    const folder = await makeTemporaryFolder('quittance-check-')
    const { found } = await check({ DATA_FOLDER: join(folder, 'data') })
    expect(levelsOf(found, 'database')[0]).toMatch(/^warning .* holds no quittance data/)
    expect(existsSync(join(folder, 'data'))).toBe(false)
    await rm(folder, { recursive: true })
    const { rows } = await database.pool().query('delete from schema_migration where number > 9 returning *')
    const old = await check({ DATABASE_URL: database.url, SANDBOX: 'false' })
    expect(levelsOf(old.found, 'migrations')[0]).toMatch(/^warning the next start applies 0010/)
    expect(rows.length).toBeGreaterThan(0)
    const left = await database.pool().query('select from schema_migration')
    expect(left.rowCount).toBe(9)
  })
})

describe('admin config', () => {
  it('shows every variable with its value or default, and no secret', async () => {
    const secret = 's3cret-s3cret-s3cret-s3cret-s3cret'
    const key = '7'.repeat(64)
    const environment = {
      PORT: '9000',
      OPERATOR_TOKEN: secret,
      KEY_ENCRYPTION_SECRET: secret,
      DATABASE_URL: `postgres://ada:${secret}@db.example:5433/quittance?password=${secret}`,
      REDIS_URL: `redis://:${secret}@redis.example`,
      SMTP_URL: `smtp://ada:${secret}@mail.example`,
      EVM_PRIVATE_KEY: key,
      EVM_RPC_URL_8453: `https://node.example/v2/${secret},https://other.example/?key=${secret}`,
      EVM_CONFIRMATIONS_8453: '3',
      TON_MNEMONIC: Array(24).fill('abandon').join(' '),
      TON_API_KEY_mainnet: secret,
    }
    const { output } = await admin(['config'], environment)
    for (const hidden of [secret, key, 'abandon', 'ada']) expect(output).not.toContain(hidden)
    expect(output).toMatch(/^PORT +environment +9000$/m)
    expect(output).toMatch(/^SETTLE_WAIT_SECONDS +default +\d+$/m)
    expect(output).toMatch(/^METRICS_TOKEN +unset +-$/m)
    expect(output).toMatch(/^OPERATOR_TOKEN +environment +\[secret\]$/m)
    expect(output).toMatch(/^DATABASE_URL +environment +postgres:\/\/db\.example:5433$/m)
    expect(output).toMatch(
      /^EVM_RPC_URL_8453 +environment +https:\/\/node\.example,https:\/\/other\.example$/m,
    )
    expect(output).toMatch(/^EVM_CONFIRMATIONS_8453 +environment +3$/m)
    expect(output).toMatch(/^EVM_PRIVATE_KEY +environment +\[secret\]$/m)
    const json = await admin(['config', '--json'], environment)
    expect(json.output).not.toContain(secret)
  })
})

describe('admin archive', () => {
  let database: TestDatabase
  let folder: string
  beforeAll(async () => {
    database = await createTestDatabase()
    folder = await makeTemporaryFolder('quittance-archive-')
    const pool = database.pool()
    const old = "now() - interval '400 days'"
    await insertJournalRows(pool, { count: 2, columns: { created_at: old, closed_at: old } })
    await pool.query(`alter table consumed_authorizations disable trigger user;
      update consumed_authorizations set consumed_at = ${old};
      alter table consumed_authorizations enable trigger user`)
  })
  afterAll(async () => {
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  })
  const run = (...words: readonly string[]) => admin(['archive', ...words], { DATABASE_URL: database.url })
  const before = new Date(Date.now() - 200 * 86_400_000).toISOString().slice(0, 10)

  it('moves settlements to a file, and says how many', async () => {
    const file = join(folder, 'settlements.csv.gz')
    const { code, output } = await run('--before', before, '--to', file)
    expect(output).toMatch(
      /settlements\.csv\.gz: 2 settlements, of which this run deleted 2\. SHA-256: [0-9a-f]{64}\./,
    )
    expect(code).toBe(0)
    expect(existsSync(file)).toBe(true)
    expect((await database.pool().query('select from settlements')).rowCount).toBe(0)

    const again = await run('--before', before, '--to', join(folder, 'more.csv.gz'))
    expect(again).toEqual({ code: 0, output: 'No settlement can be archived: no file was written.\n' })
  })

  it.each([
    [['--to', 'file'], /--before must be a day/],
    [['--before', '2026-02-31', '--to', 'file'], /--before must be a day/],
    [['--before', '2026-01-31'], /--to must name a file/],
    [['--before', '2026-01-31', '--to', 'file', '--limit', '5'], /Only `settlements list` takes filters/],
  ])('refuses %j', async (words, message) => {
    const { code, output } = await run(...words)
    expect(code).toBe(1)
    expect(output).toMatch(message)
  })
})
