import { cpSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import {
  createBackfills,
  listBackfills,
  runBackfillBatch,
} from '../../../../src/stores/postgres/database/backfills.js'
import {
  confirmSchema,
  type MigrateOptions,
  migrate,
} from '../../../../src/stores/postgres/database/migrate.js'
import { readMigrations } from '../../../../src/stores/postgres/database/migrationFiles.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { readSchemaState } from '../../../../src/stores/postgres/database/schemaHistory.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { migrationsFolder } from '../../../../src/stores/stores.js'
import { claimOf } from '../../../support/claimOf.js'
import { addInstance, killInstances } from '../../../support/instances.js'
import { createMemoryLogger } from '../../../support/memoryLogger.js'
import { migrateAfterOldest } from '../../../support/migrateAfterOldest.js'
import { patientPool } from '../../../support/patientPool.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'
import { startPostgres } from '../../../support/postgresServer.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'
import { withoutStatelessIndexes } from '../../../support/withoutStatelessIndexes.js'

let database: TestDatabase
let pool: Pool
let others: Pool

beforeEach(async () => {
  database = await createTestDatabase()
  pool = database.pool()
  others = database.otherPool()
})
afterEach(async () => {
  for (const release of unreleased.splice(0)) release()
  await database.drop()
})

/** What a failed test leaves open. */
const unreleased: (() => void)[] = []

const newest = (await readMigrations(migrationsFolder)).length
const digitsOf = (number: number): string => String(number).padStart(4, '0')
const nameOf = (at: number, what: string): string => `${digitsOf(newest + at)}_${what}.sql`
const besideThis = `-- quittance: runs beside ${digitsOf(newest)}\n`

/**
 * The migrations of a later version: those of this one, and the given files, numbered from the next number. A URL, so that
 * they are read once.
 */
const laterVersion = async (
  ...files: readonly { readonly what: string; readonly sql: string; readonly backfill?: string }[]
): Promise<URL> => {
  const folder = await makeTemporaryFolder('migrations-')
  cpSync(fileURLToPath(migrationsFolder), folder, { recursive: true })
  for (const [at, { what, sql, backfill }] of files.entries()) {
    const path = join(folder, nameOf(at + 1, what))
    await writeFile(path, sql)
    if (backfill !== undefined) await writeFile(path.replace('.sql', '.backfill.sql'), backfill)
  }
  return pathToFileURL(`${folder}/`)
}

const impatient: MigrateOptions = { lockTimeoutMs: 200, retryPauseMs: 20 }

/** Keeps a table from being altered, as a long read does, until it ends. */
const openTransaction = async (statement: string): Promise<{ end(): Promise<void> }> => {
  const client = await others.connect()
  const release = () => client.release(true)
  unreleased.push(release)
  await client.query(`begin; ${statement}`)
  const end = async () => {
    await client.query('commit')
    unreleased.splice(unreleased.indexOf(release), 1)
    client.release()
  }
  return { end }
}

/** It belongs to an instance of this version. */
const openJournal = async (): Promise<SettlementJournal> => {
  const instance = await addInstance(pool)
  await pool.query('update instances set newest_migration = $1', [newest])
  return createSettlementJournal(pool, instance)
}

const columnOf = async (table: string, column: string): Promise<boolean> => {
  const { rowCount } = await pool.query(
    'select from information_schema.columns where table_name = $1 and column_name = $2',
    [table, column],
  )
  return rowCount === 1
}

const addColumn = {
  what: 'add_column',
  sql: `${besideThis}alter table settlements add column added integer;`,
}

describe('a migration that waits for a lock', () => {
  it('gives way to payments, and succeeds once the other transaction has ended', async () => {
    const folder = await laterVersion(addColumn)
    const logger = createMemoryLogger()
    const journal = await openJournal()
    const read = await openTransaction('select from settlements limit 1')

    const migrating = migrate(pool, folder, { ...impatient, logger })
    await pollUntil(
      async () =>
        (
          await pool.query(
            `select from pg_locks where relation = 'settlements'::regclass and mode = 'AccessExclusiveLock' and not granted
               and database = (select oid from pg_database where datname = current_database())`,
          )
        ).rowCount === 1,
      'the migration waits for its lock',
    )
    expect(await journal.claim(claimOf({ caller: 'account 1' }))).not.toBeNull()
    await pollUntil(() => logger.messages().includes('database.migration_retried'), 'another attempt')
    expect(await columnOf('settlements', 'added')).toBe(false)

    await read.end()
    expect(await migrating).toMatchObject({ applied: [nameOf(1, 'add_column')] })
    expect(await columnOf('settlements', 'added')).toBe(true)
  })

  it('ends with a sentence on who holds it after a while, and has changed nothing', async () => {
    const folder = await laterVersion(addColumn)
    const read = await openTransaction('select from settlements limit 1')

    await expect(migrate(pool, folder, { ...impatient, giveUpAfterMs: 0 })).rejects.toThrow(
      /add_column.sql was rolled back: other transactions hold locks that it needs.*pg_stat_activity/,
    )

    await read.end()
    expect(await readSchemaState(pool, folder)).toMatchObject({ pending: [nameOf(1, 'add_column')] })
  })

  it.each(['40P01', '55P03'])('is tried again after the error %s', async (code) => {
    await pool.query('create sequence attempts')
    const sql = `${besideThis}create table made (n integer);
      do $$ begin
        if nextval('attempts') < 3 then raise exception 'in the way' using errcode = '${code}'; end if;
      end $$;`
    const logger = createMemoryLogger()

    await migrate(pool, await laterVersion({ what: 'conflict', sql }), { ...impatient, logger })

    expect(logger.lines.map(({ message, fields }) => [message, fields.attempts])).toEqual([
      ['database.migration_retried', 1],
      ['database.migration_retried', 2],
    ])
  })

  it('has an automatic vacuum of the table ended', async () => {
    // A server of its own, where other tests need not bear how often tables are vacuumed.
    const server = await startPostgres()
    const admin = openPool({ ...patientPool, url: server.adminUrl, maxConnections: 2 })
    try {
      const lookForTables = async (every: string): Promise<void> => {
        await admin.query(`alter system set autovacuum_naptime = '${every}'`)
        await admin.query('select pg_reload_conf()')
      }
      await lookForTables('1s')
      // The vacuum is so slow that it ends after the test.
      await admin.query(`
        create table vacuumed (id integer, padding text) with (autovacuum_vacuum_threshold = 10,
          autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_cost_delay = 100);
        insert into vacuumed select n, repeat('x', 400) from generate_series(1, 20000) n;
        update vacuumed set id = -id`)
      const isVacuumed = async () =>
        (await admin.query(`select from pg_stat_progress_vacuum where relid = 'vacuumed'::regclass`))
          .rowCount === 1
      await pollUntil(isVacuumed, 'the vacuum')
      await lookForTables('1h')

      const folder = await makeTemporaryFolder('migrations-')
      await writeFile(join(folder, '0001_alter.sql'), 'alter table vacuumed add column added integer;')
      const applied = await migrate(admin, folder, { retryPauseMs: 20, giveUpAfterMs: 10_000 })

      expect(applied).toMatchObject({ applied: ['0001_alter.sql'] })
    } finally {
      await admin.end()
      await server.stop()
    }
  })
})

/** With a heartbeat that does not age while the test runs. */
const runInstance = async (newestMigration: number | null): Promise<void> => {
  await addInstance(pool)
  await pool.query("update instances set newest_migration = $1, seen_at = now() + interval '1 hour'", [
    newestMigration,
  ])
}

describe('an index that is built outside a transaction', () => {
  const buildIndex = {
    what: 'build_index',
    sql: `-- quittance: no transaction\n${besideThis}create index concurrently settlements_of_test on settlements (payer);\n`,
  }
  const stateOf = async () =>
    (
      await pool.query(
        "select i.indisvalid as valid from pg_class c join pg_index i on i.indexrelid = c.oid where c.relname = 'settlements_of_test'",
      )
    ).rows
  const isBuilding = async () =>
    (
      await pool.query(
        "select pid from pg_stat_progress_create_index where datname = current_database() and phase like 'waiting%'",
      )
    ).rows[0]?.pid

  it('is built beside a payment, while other instances start and wait', async () => {
    const folder = await laterVersion(buildIndex, addColumn)
    const journal = await openJournal()
    const write = await openTransaction(
      'delete from settlements where false; lock table settlements in row exclusive mode',
    )
    const logger = createMemoryLogger()

    const first = migrate(pool, folder, impatient)
    await pollUntil(isBuilding, 'the build waits for the transaction')
    const second = migrate(others, folder, { ...impatient, logger })
    await pollUntil(() => logger.messages().includes('database.migration_waits'), 'the second one to wait')
    expect(await journal.claim(claimOf({ caller: 'account 1' }))).not.toBeNull()
    expect(await stateOf()).toEqual([{ valid: false }])

    await write.end()
    const applied = [await first, await second].flatMap((each) => each.applied)
    expect(applied).toEqual([nameOf(1, 'build_index'), nameOf(2, 'add_column')])
    expect(await stateOf()).toEqual([{ valid: true }])
  })

  it('is not recorded beside an instance that started during the build and cannot run beside it', async () => {
    const folder = await laterVersion({ ...buildIndex, sql: buildIndex.sql.replace(besideThis, '') })
    const write = await openTransaction('lock table settlements in row exclusive mode')
    const refused = expect(migrate(pool, folder, { giveUpAfterMs: 0 })).rejects.toThrow(
      /build_index.sql cannot be applied beside instances of an older version, and 1 of them sent a heartbeat/,
    )
    await pollUntil(isBuilding, 'the build waits for the transaction')
    await runInstance(newest)
    await write.end()
    await refused
    expect(await stateOf()).toEqual([{ valid: true }])
    expect(await readSchemaState(pool, folder)).toMatchObject({ pending: [nameOf(1, 'build_index')] })

    await killInstances(pool)
    await migrate(pool, folder)
    expect(await readSchemaState(pool, folder)).toMatchObject({ pending: [] })
  })

  it('is dropped and built again where a crash left it invalid', async () => {
    const folder = await laterVersion(buildIndex)
    const write = await openTransaction('lock table settlements in row exclusive mode')
    const crashed = expect(migrate(pool, folder)).rejects.toThrow(/next start builds its index again/)
    const pid = await pollUntil(isBuilding, 'the build waits for the transaction')
    await pool.query('select pg_terminate_backend($1)', [pid])
    await crashed
    await write.end()
    expect(await stateOf()).toEqual([{ valid: false }])
    expect(await readSchemaState(pool, folder)).toMatchObject({ pending: [nameOf(1, 'build_index')] })

    await migrate(pool, folder)

    expect(await stateOf()).toEqual([{ valid: true }])
    expect(await readSchemaState(pool, folder)).toMatchObject({ pending: [] })
  })

  it('is not built again where a start ended between its build and the record of it', async () => {
    await pool.query('create index settlements_of_test on settlements (payer)')
    const { rows } = await pool.query("select 'settlements_of_test'::regclass::oid as oid")

    await migrate(pool, await laterVersion(buildIndex))

    expect((await pool.query("select 'settlements_of_test'::regclass::oid as oid")).rows).toEqual(rows)
  })

  it.each([
    'create index settlements_of_test on settlements (pay_to)',
    'create unique index settlements_of_test on settlements (payer, id)',
    "create index settlements_of_test on settlements (payer) where state = 'failed'",
    'create index settlements_of_test on streams (payer)',
  ])('is refused where its name is that of another index: %s', async (sql) => {
    await pool.query(sql)
    const folder = await laterVersion(buildIndex)

    await expect(migrate(pool, folder)).rejects.toThrow(
      /build_index.sql needs the index "CREATE INDEX settlements_of_test ON settlements USING btree \(payer\)", and the database has "CREATE .*drop index concurrently settlements_of_test/,
    )

    expect(await readSchemaState(pool, folder)).toMatchObject({ pending: [nameOf(1, 'build_index')] })
  })

  it('logs which transactions it waits for, without their statements', async () => {
    const write = await openTransaction(
      "set application_name = 'nightly report'; lock table settlements in row exclusive mode",
    )
    const logger = createMemoryLogger()
    const migrating = migrate(pool, await laterVersion(buildIndex), { reportWaitsAfterMs: 20, logger })

    await pollUntil(() => logger.messages().includes('database.migration_waits'), 'the wait to be logged')

    expect(logger.lines[0]?.fields).toEqual({
      migration: nameOf(1, 'build_index'),
      phase: expect.stringMatching(/^waiting for /),
      waitsFor: [{ pid: expect.any(Number), seconds: expect.any(Number), application: 'nightly report' }],
    })
    await write.end()
    await migrating
    expect(await stateOf()).toEqual([{ valid: true }])
  })

  it('names what to do where its statement was canceled while it waited', async () => {
    const write = await openTransaction('lock table settlements in row exclusive mode')
    const canceled = expect(migrate(pool, await laterVersion(buildIndex))).rejects.toThrow(
      /next start builds its index again: canceling statement .*oldest xact_start in pg_stat_activity/,
    )
    const pid = await pollUntil(isBuilding, 'the build waits for the transaction')
    await pool.query('select pg_cancel_backend($1)', [pid])
    await canceled
    await write.end()
  })

  it.each([
    'create index settlements_of_test on settlements (payer);',
    'create index concurrently a on settlements (payer);\ncreate index concurrently b on settlements (payer);',
    'create index concurrently on settlements (payer);',
  ])('is the only statement of its file, and has a name: %s', async (sql) => {
    const folder = await laterVersion({ what: 'build', sql: `-- quittance: no transaction\n${sql}\n` })

    await expect(migrate(pool, folder)).rejects.toThrow(/must be one "create index concurrently"/)
  })
})

describe('a backfill', () => {
  const fill = {
    what: 'fill',
    sql: `${besideThis}alter table numbers add column fills integer not null default 0;`,
    backfill: `with batch as (select n from numbers where n > coalesce($1::text, '0')::integer order by n limit $2),
      filled as (update numbers set fills = fills + 1 from batch where numbers.n = batch.n)
      select (select max(n) from batch)::text as cursor`,
  }
  const backfillsOf = async (folder: URL) => listBackfills(await readMigrations(folder)).slice(-1)
  const runAll = async (on: Pool, folder: URL): Promise<void> => {
    const backfills = await backfillsOf(folder)
    while ((await runBackfillBatch(on, backfills, { size: 3 })) !== null);
  }
  const countFills = async () =>
    (await pool.query('select fills, count(*)::integer as rows from numbers group by fills order by fills'))
      .rows

  beforeEach(() => pool.query('create table numbers as select n from generate_series(1, 10) n'))

  it('goes on where an interrupted batch began, and writes each row once', async () => {
    const folder = await laterVersion(fill)
    await migrate(pool, folder)
    const backfills = await backfillsOf(folder)
    await runBackfillBatch(pool, backfills, { size: 3 })
    const broken = backfills.map(({ name, sql }) => ({
      name,
      sql: `${sql}, pg_terminate_backend(pg_backend_pid()) as ended, (select count(*) from batch) as rows`,
    }))

    await expect(runBackfillBatch(others, broken, { size: 3 })).rejects.toThrow()
    expect(await countFills()).toEqual([
      { fills: 0, rows: 7 },
      { fills: 1, rows: 3 },
    ])
    await runAll(pool, folder)

    expect(await countFills()).toEqual([{ fills: 1, rows: 10 }])
    expect(
      (
        await pool.query(
          "select cursor, batches, finished_at is not null as is_finished from schema_backfill where name = 'fill'",
        )
      ).rows,
    ).toEqual([{ cursor: '10', batches: '5', is_finished: true }])
  })

  it('is run by one instance at a time, which others do not wait for', async () => {
    const folder = await laterVersion(fill)
    await migrate(pool, folder)
    const batch = await openTransaction("select from schema_backfill where name = 'fill' for update")

    expect(await runBackfillBatch(pool, await backfillsOf(folder), { size: 3 })).toBeNull()

    await batch.end()
    await Promise.all([runAll(pool, folder), runAll(others, folder), runAll(pool, folder)])
    await runAll(pool, folder)
    expect(await countFills()).toEqual([{ fills: 1, rows: 10 }])
  })

  it('gives way to a payment that has a row of its batch', async () => {
    const folder = await laterVersion(fill)
    await migrate(pool, folder)
    const payment = await openTransaction('select from numbers where n = 2 for update')

    expect(await runBackfillBatch(pool, await backfillsOf(folder), { size: 3 })).toEqual({
      name: null,
      isFinished: false,
    })

    await payment.end()
    await runAll(pool, folder)
    expect(await countFills()).toEqual([{ fills: 1, rows: 10 }])
  })

  it('has ended before a migration that needs it', async () => {
    const sql = `-- quittance: after backfill fill\n${besideThis}alter table numbers add check (fills = 1);`
    const folder = await laterVersion(fill, { what: 'check_fills', sql })

    await migrate(pool, folder)

    expect(await countFills()).toEqual([{ fills: 1, rows: 10 }])
  })

  it('that the version of an instance does not have is left to others', async () => {
    await migrate(pool, await laterVersion(fill))
    const backfills = createBackfills(pool, migrationsFolder)

    while ((await backfills.runBatch()) !== null);

    expect(await countFills()).toEqual([{ fills: 0, rows: 10 }])
  })
})

describe('versions beside each other', () => {
  const alone = {
    what: 'rename',
    sql: '-- quittance: runs alone\nalter table settlements rename column payer to sender;',
  }

  it('a version starts on the schema of a later one whose migrations run beside it', async () => {
    await migrate(pool, await laterVersion(addColumn))

    const unknown = [nameOf(1, 'add_column')]
    expect(await migrate(pool, migrationsFolder)).toEqual({ applied: [], unknown, newest })
    await confirmSchema(pool, migrationsFolder)
    expect(await readSchemaState(pool, migrationsFolder)).toMatchObject({ pending: [], unknown })
  })

  it('and refuses one with a migration that it cannot run beside, also if that landed during its start', async () => {
    await migrate(pool, await laterVersion(addColumn, alone))

    const refusal =
      /has migration \d+_rename.sql, which this version does not know and cannot run beside. Start the version/
    await expect(migrate(pool, migrationsFolder)).rejects.toThrow(refusal)
    await expect(confirmSchema(pool, migrationsFolder)).rejects.toThrow(refusal)
    await expect(readSchemaState(pool, migrationsFolder)).rejects.toThrow(refusal)
  })

  it('a migration that older versions cannot run beside waits for the end of their instances', async () => {
    await runInstance(newest)
    const folder = await laterVersion(addColumn, alone)
    await expect(migrate(pool, folder, { giveUpAfterMs: 0 })).rejects.toThrow(
      /rename.sql cannot be applied beside instances of an older version, and 1 of them sent a heartbeat/,
    )
    expect(await readSchemaState(pool, folder)).toMatchObject({ pending: [nameOf(2, 'rename')] })

    const logger = createMemoryLogger()
    const migrating = migrate(pool, folder, { ...impatient, logger })
    await pollUntil(
      () => logger.messages().includes('database.migration_retried'),
      'the wait for the instance',
    )
    await killInstances(pool)
    expect(await migrating).toMatchObject({ applied: [nameOf(2, 'rename')] })
  })

  it('but not for those of its own version, nor where no other process has the database', async () => {
    await runInstance(newest + 2)
    await migrate(pool, await laterVersion(addColumn, alone))
    await pool.query('update instances set newest_migration = null')
    const sql = '-- quittance: runs alone\nalter table settlements rename column sender to payer;'

    await migrate(pool, await laterVersion(addColumn, alone, { what: 'rename_back', sql }), { isAlone: true })

    expect(await columnOf('settlements', 'payer')).toBe(true)
  })

  it('a database that a version up to migration 0039 migrated is upgraded beside its instances up to 0066', async () => {
    await runInstance(null)
    await pool.query(`${withoutStatelessIndexes};
      delete from schema_migration where number >= 40; alter table schema_migration drop column runs_beside;
      drop table schema_backfill; alter table instances drop column newest_migration`)

    const { applied } = await migrateAfterOldest(pool, migrationsFolder)

    expect(applied).toHaveLength(newest - 66)
  })

  it('a file that states what the runner does not know is refused', async () => {
    const folder = await laterVersion({ what: 'typing_error', sql: '-- quittance: runs besides 0039\n' })

    await expect(migrate(pool, folder)).rejects.toThrow(
      /typing_error.sql states what is unknown: runs besides 0039/,
    )
  })
})
