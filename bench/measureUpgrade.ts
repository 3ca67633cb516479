import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { systemClock } from '../src/platform/clock.js'
import { silentLogger } from '../src/platform/logger.js'
import type { SettlementJournal } from '../src/ports/settlementJournal.js'
import { createBackfills } from '../src/stores/postgres/database/backfills.js'
import { migrate } from '../src/stores/postgres/database/migrate.js'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { migrationsFolder } from '../src/stores/stores.js'
import { createUpgrade } from '../src/usecases/upgrade/index.js'
import { claimOf } from '../test/support/claimOf.js'
import { addInstance } from '../test/support/instances.js'
import { insertJournalRows } from '../test/support/journalRows.js'
import { unpackPreviousSources } from '../test/support/previousVersion.js'
import { makeFolder } from './makeFolder.js'
import type { Scale } from './options.js'
import { startDatabase } from './startDatabase.js'
import { figure, printTable, toColumns } from './table.js'
import { atMost, noFailures, type Verdict } from './verdict.js'

const rowCount = 1_000_000
const rowsAtOnce = 50_000
const settlesPerSecond = 20
const warmUpMs = 5_000
const aloneMs = 30_000
const leastMs = 10_000
const samplingMs = 5

/** Half of the payments are counted for an account, as versions without mailboxes counted them. */
const columns = {
  caller: `case when n % 2 = 0 then 'account ' || n % 1000 else 'anonymous' end`,
  quota_month: `case when n % 2 = 0 then date_trunc('month', now() at time zone 'utc')::date end`,
  fee_rate: 'case when n % 2 = 0 then 0 end',
  transaction: `'0x' || md5(n::text) || md5(n::text)`,
  created_at: `now() - n * interval '0.0864 seconds'`,
}

const listMigrations = async (folder: URL | string): Promise<readonly string[]> =>
  (await readdir(folder)).filter((name) => name.endsWith('.sql')).sort()

/** While a database is migrated, the version before settles. This one cannot on its schema. */
const readPreviousVersion = async () => {
  const { folder } = await unpackPreviousSources()
  const names = await listMigrations(join(folder, 'migrations'))
  const newest = Number(names.at(-1)?.slice(0, 4))
  const { href } = pathToFileURL(join(folder, 'src/stores/postgres/journal/settlementJournal.ts'))
  const { createSettlementJournal }: typeof import('../src/stores/postgres/journal/settlementJournal.js') =
    await import(href)
  const openJournal = async (pool: Pool): Promise<SettlementJournal> => {
    const instance = await addInstance(pool)
    await pool.query('update instances set newest_migration = $1', [newest])
    return createSettlementJournal(pool, instance)
  }
  return { newest, openJournal }
}

/**
 * Settlements of the version before at a steady rate on a filled database, alone, and beside each migration that it lacks
 * and its backfill.
 */
export const measureUpgrade = async (scale: Scale): Promise<readonly Verdict[]> => {
  const rows = rowCount * scale
  const database = await startDatabase()
  const folder = await makeFolder()
  const pool = openPool({ url: database.url, maxConnections: 10, onError: () => undefined })
  const others = openPool({
    url: database.url,
    maxConnections: 3,
    onError: () => undefined,
    statementTimeoutMs: 600_000,
  })
  try {
    const previous = await readPreviousVersion()
    const files = await listMigrations(migrationsFolder)
    const add = (name: string) =>
      copyFile(join(fileURLToPath(migrationsFolder), name), join(folder.path, name))
    const isBefore = (name: string) => Number(name.slice(0, 4)) <= previous.newest
    for (const name of files.filter(isBefore)) await add(name)
    await migrate(others, folder.path)
    for (let filled = 0; filled < rows; filled += rowsAtOnce) {
      const shifted = Object.entries(columns).map(([name, sql]) => [
        name,
        sql.replaceAll(/\bn\b/g, `(n + ${filled})`),
      ])
      await insertJournalRows(others, { count: rowsAtOnce, columns: Object.fromEntries(shifted) })
    }
    await others.query('vacuum analyze settlements')
    const journal = await previous.openJournal(pool)

    const table = printTable(
      'Upgrade',
      `${settlesPerSecond} settlements a second (claim, record, close) beside migrations of ${rows.toLocaleString('en')} settlements.`,
      [
        { name: 'beside', width: 34 },
        ...toColumns('settled', 'failed', 'p50 ms', 'p99 ms', 'took ms', 'locked ms'),
      ],
    )
    const show = (name: string, load: Load, tookMs: number, lockedMs: number) =>
      table.row(
        name,
        ...[String(load.times.length), String(load.failures), figure(at(load, 0.5)), figure(at(load, 0.99))],
        ...[figure(tookMs), figure(lockedMs)],
      )
    await settleBeside(journal, () => sleep(warmUpMs))
    const alone = await settleBeside(journal, () => sleep(aloneMs * scale))
    show('nothing', alone, Number.NaN, Number.NaN)

    const loads: Load[] = []
    const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      let tookMs = 0
      let lockedMs = 0
      const load = await settleBeside(journal, async () => {
        const locks = watchLocks(others)
        const startedAt = performance.now()
        await work()
        tookMs = performance.now() - startedAt
        lockedMs = await locks.stop()
        await sleep(Math.max(0, leastMs * scale - tookMs))
      })
      loads.push(load)
      show(name, load, tookMs, lockedMs)
    }
    for (const name of files.filter((each) => !isBefore(each) && !each.endsWith('.backfill.sql'))) {
      await add(name)
      const backfill = name.replace('.sql', '.backfill.sql')
      if (files.includes(backfill)) await add(backfill)
      await measure(name, () => migrate(others, folder.path))
      if (!files.includes(backfill)) continue
      const backfills = createBackfills(others, migrationsFolder)
      const { runBackfills } = createUpgrade({ backfills, clock: systemClock, logger: silentLogger }).jobs
      await measure(backfill, async () => {
        while (await isUnfinished(others)) await runBackfills.run(new AbortController().signal)
      })
    }
    const beside = {
      times: loads.flatMap(({ times }) => times),
      failures: loads.reduce((sum, each) => sum + each.failures, 0),
    }
    return [
      atMost('upgrade: p99 of a settlement beside it', at(beside, 0.99) / at(alone, 0.99), {
        limit: 2,
        unit: '×',
      }),
      noFailures('upgrade: settlements beside it', {
        sent: beside.times.length + beside.failures,
        failures: beside.failures,
      }),
    ]
  } finally {
    await Promise.all([pool.end(), others.end()])
    await database.stop()
    await folder.remove()
  }
}

interface Load {
  /** Milliseconds, ascending; each from the moment at which it was due. */
  readonly times: readonly number[]
  readonly failures: number
}

const at = ({ times }: Load, share: number): number => times[Math.floor(times.length * share)] ?? Number.NaN

/** Settles at fixed moments until the work has ended. */
const settleBeside = async (journal: SettlementJournal, work: () => Promise<unknown>): Promise<Load> => {
  let isOver = false
  const ended = work().finally(() => {
    isOver = true
  })
  const times: number[] = []
  let failures = 0
  const settlements: Promise<void>[] = []
  const startedAt = performance.now()
  for (let count = 0; !isOver; count += 1) {
    const dueAt = startedAt + (count * 1_000) / settlesPerSecond
    await sleep(Math.max(0, dueAt - performance.now()))
    const settlement = settle(journal, count).then(
      () => void times.push(performance.now() - dueAt),
      () => {
        failures += 1
      },
    )
    settlements.push(settlement)
  }
  await Promise.all(settlements)
  await ended
  return { times: times.toSorted((left, right) => left - right), failures }
}

const settle = async (journal: SettlementJournal, count: number): Promise<void> => {
  const settlement = await journal.claim(claimOf({ caller: `account ${count % 1_000}` }))
  if (settlement === null) throw new Error('The authorization has a settlement')
  const { id } = settlement
  await journal.recorderFor(id).record({ transaction: id, bytes: '0x' })
  const block = { number: 2_000_000_001n, hash: `0x${'1'.repeat(64)}` }
  await journal.close(id, { state: 'confirmed', transaction: id, block })
}

const isUnfinished = async (pool: Pool): Promise<boolean> =>
  (await pool.query('select from schema_backfill where finished_at is null limit 1')).rowCount === 1

// Modes that conflict with those of writes.
const heldLocks = `select count(*)::integer as count from pg_locks l join pg_class c on c.oid = l.relation
  where l.granted and c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace
    and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')`

/** The longest time without a pause in which a table was locked against writes, by samples. */
const watchLocks = (pool: Pool): { stop(): Promise<number> } => {
  let isOver = false
  const watch = async (): Promise<number> => {
    let longestMs = 0
    let since: number | null = null
    while (!isOver) {
      const isLocked = (await pool.query(heldLocks)).rows[0]?.count > 0
      const now = performance.now()
      since = isLocked ? (since ?? now) : null
      if (since !== null) longestMs = Math.max(longestMs, now - since + samplingMs)
      await sleep(samplingMs)
    }
    return longestMs
  }
  const watching = watch()
  return {
    stop: () => {
      isOver = true
      return watching
    },
  }
}
