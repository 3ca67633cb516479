import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createSettlementJournal } from '../../src/stores/postgres/journal/settlementJournal.js'
import { findMissingRows } from '../../src/stores/postgres/reconciliation/missingRows.js'
import { runAdminCommand as admin } from '../support/adminCommand.js'
import { claimOf } from '../support/claimOf.js'
import { randomAddress } from '../support/evm/authorization.js'
import { type LocalChain, startLocalChain } from '../support/evm/localChain.js'
import { exactPayment } from '../support/evm/payment.js'
import { createEoa } from '../support/evm/wallets.js'
import { forgetConsumed } from '../support/forgetConsumed.js'
import { addInstance, killInstances } from '../support/instances.js'
import { pollUntil } from '../support/pollUntil.js'
import { createTestDatabase, useTestDatabase } from '../support/postgres.js'
import { startService } from '../support/service.js'
import { makeTemporaryFolder } from '../support/temporaryFolder.js'

const amount = 10_000n
const day = 86_400_000
const sealing = { KEY_ENCRYPTION_SECRET: 'k'.repeat(40) }
const answer = z.looseObject({
  success: z.boolean().optional(),
  transaction: z.string().optional(),
  errorReason: z.string().optional(),
})

const post = async (url: string, body: unknown, headers: Readonly<Record<string, string>> = {}) => {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  return { status: response.status, answer: answer.parse(await response.json()) }
}

/** Every row of every table, in an order of its own. */
const dump = async (pool: Pool) => {
  const { rows: tables } = await pool.query<{ name: string }>(
    `select relname as name from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace
       and relname not in ('instances', 'job_leases', 'schema_migration', 'schema_backfill', 'request_statistics') order by 1`,
  )
  const found: Record<string, unknown> = {}
  for (const { name } of tables) {
    const { rows } = await pool.query(`select to_jsonb(t)::text as row from ${name} t order by 1`)
    found[name] = rows
  }
  return found
}

describe('a backup', () => {
  let chain: LocalChain
  const source = useTestDatabase()
  let folder: string
  let file: string
  let apiKey = ''
  let before: Awaited<ReturnType<typeof place>>
  let after: Awaited<ReturnType<typeof place>>
  let first: Awaited<ReturnType<typeof post>>
  let rowsAtBackup: Awaited<ReturnType<typeof dump>>

  const place = async () => {
    const wallet = createEoa()
    await chain.mint(wallet.address, amount)
    const payTo = randomAddress()
    return { payTo, body: await exactPayment({ chain, wallet, payTo, amount }) }
  }
  const start = (databaseUrl: string) =>
    startService({ chain, databaseUrl, environment: { ...sealing, REGISTRATION: 'open' } })

  beforeAll(async () => {
    chain = await startLocalChain({ facilitatorCount: 1 })
    folder = await makeTemporaryFolder('quittance-backup-', { onDisk: true })
    file = join(folder, 'journal.backup')
    ;[before, after] = [await place(), await place()]
    const service = await start(source.url)
    try {
      const registered = await fetch(`${service.url}/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: 'ada@example.com', projectName: 'engine' }),
      })
      apiKey = z.looseObject({ apiKey: z.string() }).parse(await registered.json()).apiKey
      first = await post(`${service.url}/settle`, before.body, {
        authorization: `Bearer ${apiKey}`,
        'idempotency-key': 'order-1',
      })
    } finally {
      // A service that runs changes rows at any time.
      await service.close()
    }
    // Replacements refer to rows that may follow them in the file.
    await source.pool.query(
      `with one as (select * from broadcasts where signer is not null limit 1)
       insert into broadcasts (network, transaction, bytes, signer, nonce, replaces)
       select network, '0a' || transaction, bytes, signer, nonce, transaction from one`,
    )
    rowsAtBackup = await dump(source.pool)
    const written = await admin(['backup', file], { DATABASE_URL: source.url, ...sealing })
    expect(written).toMatchObject({ code: 0 })
    expect(written.output).toContain('1 settlements, 1 accounts')
    expect(written.output).toContain('Keep KEY_ENCRYPTION_SECRET separately')
    expect(written.output).not.toContain(sealing.KEY_ENCRYPTION_SECRET)
    const later = await start(source.url)
    try {
      await post(`${later.url}/settle`, after.body)
    } finally {
      await later.close()
    }
  })
  afterAll(async () => {
    await chain.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('is readable by its owner only, and overwrites no file', async () => {
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const again = await admin(['backup', file], { DATABASE_URL: source.url })
    expect(again).toEqual({ code: 1, output: `${file} exists: a backup overwrites no file.` })
    expect(existsSync(`${file}.part`)).toBe(false)
  })

  it('restores every row, and the service that starts on it answers what the chain says', async () => {
    const target = await createTestDatabase()
    try {
      const restored = await admin(['restore', file], { DATABASE_URL: target.url, ...sealing })
      expect(restored).toMatchObject({ code: 0 })
      expect(restored.output).toContain('Restored')
      expect(restored.output).not.toContain('Before the start')
      expect(await dump(target.pool())).toEqual(rowsAtBackup)
      // The file can be older than the end of a backfill.
      const { rows: ended } = await target.pool().query('select distinct finished_at from schema_backfill')
      expect(ended).toEqual([{ finished_at: null }])

      const service = await start(target.url)
      try {
        const withKey = { authorization: `Bearer ${apiKey}` }
        const again = await post(`${service.url}/settle`, before.body, {
          ...withKey,
          'idempotency-key': 'order-1',
        })
        expect(again.answer).toMatchObject({ success: true, transaction: first.answer.transaction })
        // Settled after the backup: the chain knows it, and it is not settled twice.
        const known = await post(`${service.url}/settle`, after.body)
        expect(known.answer.success).toBe(false)
        expect(await chain.balanceOf(after.payTo)).toBe(amount)
        const next = await place()
        expect((await post(`${service.url}/settle`, next.body, withKey)).answer.success).toBe(true)
      } finally {
        await service.close()
      }
    } finally {
      await target.drop()
    }
  })

  it('that misses later settlements is checked against the digests of consumed authorizations', async () => {
    const digests = join(folder, 'consumed.backup')
    const exported = await admin(['consumed', 'export', digests], { DATABASE_URL: source.url })
    expect(exported).toEqual({ code: 0, output: `Wrote ${digests}: 2 consumed authorizations.\n` })
    const target = await createTestDatabase()
    try {
      await admin(['restore', file], { DATABASE_URL: target.url, ...sealing })
      const { rows } = await source.pool.query(
        'select id, authorization_id from settlements order by created_at desc limit 1',
      )
      const lost = z.object({ id: z.string(), authorization_id: z.string() }).parse(rows[0])
      const journal = createSettlementJournal(target.pool(), await addInstance(target.pool()))
      const settleAgain = () => journal.claim(claimOf({ authorizationId: lost.authorization_id }))
      // What would be lost without the digests: the journal alone has nothing against it.
      await journal.abandon((await settleAgain())?.id ?? '')

      const run = () => admin(['consumed', 'import', digests], { DATABASE_URL: target.url })
      const beside = await run()
      expect(beside.code).toBe(1)
      expect(beside.output).toContain('stop it first. Nothing was imported')
      await killInstances(target.pool())
      const first = await run()
      expect(first).toMatchObject({ code: 0 })
      // From now on no sandbox can use it.
      const { rows: purposes } = await target.pool().query('select is_sandbox from database_purpose')
      expect(purposes).toEqual([{ is_sandbox: false }])
      expect(first.output).toContain('2 consumed authorizations, of which the database lacked 1.')
      expect(first.output).toContain('1 consumed authorizations of the database have no settlement')
      expect((await run()).output).toContain('of which the database lacked 0.')
      expect(await settleAgain()).toBeNull()
      expect(await journal.isConsumed(lost.authorization_id)).toBe(true)
      const period = { from: new Date(Date.now() - day), to: new Date(Date.now() + day) }
      expect((await findMissingRows(target.pool(), period)).differences).toContainEqual(
        expect.objectContaining({ kind: 'settlement_missing', settlementId: lost.id }),
      )
      // A whole backup has them too; one that names other settlements shows that rows were changed.
      expect((await admin(['consumed', 'import', file], { DATABASE_URL: target.url })).code).toBe(0)
      await target.pool().query(`${forgetConsumed};
        insert into consumed_authorizations select digest_authorization(authorization_id), sha256('other'), id from settlements
          where state = 'confirmed'`)
      const contradicted = await run()
      expect(contradicted.code).toBe(1)
      expect(contradicted.output).toContain(
        '1 were consumed by another settlement here, or under other terms',
      )
    } finally {
      await target.drop()
    }
  })

  it('is not replaced by a file of digests, and that must be complete', async () => {
    const digests = join(folder, 'digests.backup')
    await admin(['consumed', 'export', digests], { DATABASE_URL: source.url })
    const target = await createTestDatabase()
    try {
      const restored = await admin(['restore', digests], { DATABASE_URL: target.url })
      expect(restored).toMatchObject({ code: 1, output: expect.stringContaining('lacks the table') })
      const bytes = await readFile(digests)
      await writeFile(digests, bytes.subarray(0, bytes.length - 40))
      const imported = await admin(['consumed', 'import', digests], { DATABASE_URL: target.url })
      expect(imported).toMatchObject({ code: 1, output: expect.stringContaining('is damaged') })
      const { rows } = await target.pool().query('select from consumed_authorizations')
      expect(rows).toEqual([])
    } finally {
      await target.drop()
    }
  })

  it('is of one moment, although the service writes while it is made', async () => {
    const database = await createTestDatabase()
    const writer = await database.pool().connect()
    try {
      // The backup stops at this table, after tables that come before it and before those that follow.
      await writer.query('begin; lock table broadcasts in access exclusive mode')
      const path = join(folder, 'moment.backup')
      const done = admin(['backup', path], { DATABASE_URL: database.url })
      await pollUntil(async () => {
        const { rowCount } = await database
          .otherPool()
          .query(`select from pg_locks where not granted and relation = 'broadcasts'::regclass`)
        return rowCount === 1
      }, 'the backup to wait')
      await writer.query(`insert into request_statistics values ('2026-01-31', 7, 0, 1)`)
      await writer.query('commit')
      expect(await done).toMatchObject({ code: 0 })
      const text = gunzipSync(await readFile(path)).toString()
      expect(text).toContain('{"table":"request_statistics"')
      expect(text).not.toContain('2026-01-31"')
    } finally {
      writer.release()
      await database.drop()
    }
  })

  it('of a database of a later version is refused: its tables are unknown', async () => {
    const database = await createTestDatabase()
    try {
      await database.pool().query(`insert into schema_migration values (99, '0099_later.sql', 'x')`)
      const path = join(folder, 'later.backup')
      const { code, output } = await admin(['backup', path], { DATABASE_URL: database.url })
      expect(code).toBe(1)
      expect(output).toContain('which this version does not know')
      expect(existsSync(path)).toBe(false)
    } finally {
      await database.drop()
    }
  })

  it('moves into the embedded database of a new data folder, and out of it again', async () => {
    const environment = { DATA_FOLDER: join(folder, 'moved'), ...sealing }
    expect(await admin(['restore', file], environment)).toMatchObject({ code: 0 })
    const again = join(folder, 'again.backup')
    expect(await admin(['backup', again], environment)).toMatchObject({ code: 0 })
    const rowsOf = async (path: string) =>
      gunzipSync(await readFile(path))
        .toString()
        .split('\n')
        .filter((line) => line.startsWith('['))
    // A lane is restored without its lease.
    const withoutLanes = (rows: readonly string[]) =>
      rows.filter((line) => !/^\["eip155:\d+", "0x\w{40}", "\d+", /.test(line)).sort()
    const [before, after] = [await rowsOf(file), await rowsOf(again)]
    expect(after).toHaveLength(before.length)
    expect(withoutLanes(after)).toEqual(withoutLanes(before))
    expect(await admin(['restore', file], environment)).toMatchObject({ code: 1 })
  })

  it('names the secret that the restored keys need', async () => {
    const target = await createTestDatabase()
    try {
      const environment = { DATABASE_URL: target.url, DATA_FOLDER: join(folder, 'no-secret') }
      const { code, output } = await admin(['restore', file], environment)
      expect(code).toBe(0)
      expect(output).toContain('Before the start: set KEY_ENCRYPTION_SECRET')
      expect(existsSync(join(folder, 'no-secret'))).toBe(false)
    } finally {
      await target.drop()
    }
  })

  it('is not restored into a database with rows, nor under a running service', async () => {
    const used = await admin(['restore', file], { DATABASE_URL: source.url, ...sealing })
    expect(used.code).toBe(1)
    expect(used.output).toContain('The database is not empty')
    const target = await createTestDatabase()
    const service = await start(target.url)
    try {
      const running = await admin(['restore', file], { DATABASE_URL: target.url, ...sealing })
      expect(running.code).toBe(1)
      // Its lock on a table, or its row among the instances.
      expect(running.output).toMatch(/stop (it|the service) first. Nothing was restored/)
    } finally {
      await service.close()
      await target.drop()
    }
  })

  const rewrite = (change: (lines: string[]) => void) => async (bytes: Buffer) => {
    const lines = gunzipSync(bytes).toString().split('\n')
    change(lines)
    return gzipSync(lines.join('\n'))
  }
  it.each([
    { what: 'a truncated file', change: async (bytes: Buffer) => bytes.subarray(0, bytes.length - 40) },
    {
      what: 'a file with a changed byte',
      change: async (bytes: Buffer) => {
        const changed = Buffer.from(bytes)
        const at = Math.floor(bytes.length / 2)
        changed[at] = (changed[at] ?? 0) ^ 0x10
        return changed
      },
    },
    { what: 'a file with a missing row', change: rewrite((lines) => void lines.splice(lines.length - 3, 1)) },
    {
      what: 'a file with a changed amount',
      change: rewrite((lines) => {
        const at = lines.findIndex((line) => line.includes('"10000"'))
        lines[at] = (lines[at] ?? '').replace('"10000"', '"90000"')
      }),
    },
    {
      what: 'a file of a later version',
      change: rewrite((lines) => {
        const header = z.looseObject({ migrations: z.array(z.unknown()) }).parse(JSON.parse(lines[0] ?? ''))
        const migrations = [...header.migrations, { number: 99, name: '0099_later.sql', sha256: 'x' }]
        lines[0] = JSON.stringify({ ...header, version: '9.0.0', migrations })
      }),
      text: 'was written by quittance 9.0.0',
    },
    {
      what: 'a file of another format',
      change: rewrite((lines) => {
        lines[0] = (lines[0] ?? '').replace('"formatVersion":1', '"formatVersion":2')
      }),
      text: 'has format 2',
    },
    { what: 'a foreign file', change: async () => gzipSync('hello\n'), text: 'is not a backup' },
    {
      what: 'a file that is not compressed',
      change: async () => Buffer.from('hello\n'),
      text: 'is not a backup',
    },
    { what: 'an empty file', change: async () => Buffer.alloc(0) },
  ])('$what is refused before a database is created', async ({ change, text = 'is damaged' }) => {
    const broken = join(folder, 'broken.backup')
    await writeFile(broken, await change(await readFile(file)))
    const data = join(folder, 'never-created')
    const { code, output } = await admin(['restore', broken], { DATA_FOLDER: data })
    expect(code).toBe(1)
    expect(output).toContain(text)
    expect(existsSync(data)).toBe(false)
  })

  it('leaves the database empty when one of its rows cannot be restored', async () => {
    const incomplete = join(folder, 'incomplete.backup')
    // Complete in itself, but the settlement that other rows refer to is not in it.
    const lines = gunzipSync(await readFile(file))
      .toString()
      .trimEnd()
      .split('\n')
    const at = lines.findIndex((line) => line.startsWith('{"table":"settlements"')) + 1
    const rest = [...lines.slice(0, at), ...lines.slice(at + 1, -1)].map((line) => `${line}\n`).join('')
    const end = z.object({ rows: z.record(z.string(), z.number()) }).parse(JSON.parse(lines.at(-1) ?? ''))
    const sha256 = createHash('sha256').update(rest).digest('hex')
    await writeFile(
      incomplete,
      gzipSync(`${rest}${JSON.stringify({ rows: { ...end.rows, settlements: 0 }, sha256 })}\n`),
    )
    const target = await createTestDatabase()
    try {
      const empty = await dump(target.pool())
      const { code, output } = await admin(['restore', incomplete], { DATABASE_URL: target.url })
      expect(code).toBe(1)
      expect(output).toContain('The backup lacks a settlement that one of its transactions carries.')
      expect(await dump(target.pool())).toEqual(empty)
      expect(await admin(['restore', file], { DATABASE_URL: target.url, ...sealing })).toMatchObject({
        code: 0,
      })
    } finally {
      await target.drop()
    }
  })
})
