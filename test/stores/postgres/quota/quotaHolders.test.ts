import { randomUUID } from 'node:crypto'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { createBackfills } from '../../../../src/stores/postgres/database/backfills.js'
import { migrate } from '../../../../src/stores/postgres/database/migrate.js'
import { createReconciliationStore } from '../../../../src/stores/postgres/reconciliation/reconciliationStore.js'
import { migrationsFolder } from '../../../../src/stores/stores.js'
import { insertJournalRows } from '../../../support/journalRows.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'

const { pool } = useTestDatabase()

/** The schema of a version without mailboxes, up to `0009_work_tables_and_counters.sql`. */
const openOldSchema = async (): Promise<void> => {
  const folder = await makeTemporaryFolder('migrations-')
  for (const name of await readdir(migrationsFolder)) {
    if (name < '0010') await copyFile(join(fileURLToPath(migrationsFolder), name), join(folder, name))
  }
  await pool.query('drop schema public cascade; create schema public')
  await migrate(pool, folder)
}

const thisMonth = `date_trunc('month', now() at time zone 'utc')::date`
/** It is a second ago, but not in the month before. */
const justNow = `greatest(now() - interval '1 second', ${thisMonth}::timestamp at time zone 'utc')`

/** A project of an old version, whose settlements were counted when they were claimed. */
const addProject = async (
  email: string,
  {
    settled,
    reverted = 0,
    refunded = 0,
    tier = 'free',
  }: { settled: number; reverted?: number; refunded?: number; tier?: string },
): Promise<string> => {
  const id = randomUUID()
  await pool.query('insert into accounts (id, email, project, tier) values ($1, $2, $3, $4)', [
    id,
    email,
    id,
    tier,
  ])
  await pool.query(`insert into quota_uses (account_id, month, used) values ($1, ${thisMonth}, $2)`, [
    id,
    settled + reverted,
  ])
  const counted = {
    caller: `'${id}'`,
    quota_month: thisMonth,
    fee_rate: '0',
    created_at: justNow,
  }
  const failed = {
    ...counted,
    state: `'failed'`,
    reason: `'reverted'`,
    settled_amount: 'null',
    block_number: 'null',
    block_hash: 'null',
    is_final: 'false',
  }
  await insertJournalRows(pool, { count: settled, columns: { ...counted, transaction: `'0x${id}' || n` } })
  await insertJournalRows(pool, { count: reverted, columns: { ...failed, transaction: `'0y${id}' || n` } })
  await insertJournalRows(pool, {
    count: refunded,
    columns: { ...failed, transaction: 'null', closed_at: justNow },
  })
  return id
}

const findDifferences = async () => {
  const store = createReconciliationStore(pool, pool)
  const period = { from: new Date(Date.now() - 86_400_000), to: new Date(Date.now() + 60_000) }
  const found = await store.findCountDifferences('quotas', period, {
    timeoutMs: 60_000,
    stopped: new AbortController().signal,
  })
  return found?.differences.map(({ message }) => message) ?? []
}

const runBackfills = async (): Promise<void> => {
  const backfills = createBackfills(pool, migrationsFolder)
  while ((await backfills.runBatch()) !== null);
}

const readUse = async (account: string): Promise<string | undefined> =>
  (await pool.query('select used from quota_uses where account_id = $1', [account])).rows[0]?.used

it('counted settlements of a version without mailboxes make no difference after the upgrade', async () => {
  await openOldSchema()
  const one = await addProject('ada@example.com', { settled: 10, reverted: 2, refunded: 3 })
  await addProject('ada+shop@example.com', { settled: 5 })
  await addProject('ada@example.com', { settled: 7, tier: 'scale' })
  const bob = await addProject('bob@example.com', { settled: 4 })
  await migrate(pool, migrationsFolder)
  const { rows } = await pool.query('select id from mailboxes order by mailbox')
  const [ada, bobs] = rows.map(({ id }) => String(id))
  expect(await readUse(ada ?? '')).toBe('17')
  // Another version, which counted mailboxes, went on with the counter of Bob's, and then gave him a tier.
  await insertJournalRows(pool, {
    count: 2,
    columns: { caller: `'${bob}'`, quota_holder: `'${bobs}'`, quota_month: thisMonth, fee_rate: '0' },
  })
  await pool.query('update quota_uses set used = used + 2 where account_id = $1', [bobs])
  await pool.query("update accounts set tier = 'scale' where id = $1", [bob])
  await pool.query(
    `insert into audit_log (account_id, action, actor, details) values ($1, 'tier.changed', 'operator', '{"from": "free", "to": "scale"}')`,
    [bob],
  )
  // Not before the backfill has ended, which a nightly run can precede.
  expect(await findDifferences()).toEqual([])

  await runBackfills()

  expect(await findDifferences()).toEqual([])
  expect([await readUse(one), await readUse(ada ?? ''), await readUse(bobs ?? '')]).toEqual(['12', '0', '2'])
  expect(
    (await pool.query('select from settlements where quota_month is not null and quota_holder is null'))
      .rowCount,
  ).toBe(0)

  // A difference of that month is still one.
  await pool.query('update quota_uses set used = used + 1 where account_id = $1', [one])
  expect(await findDifferences()).toHaveLength(1)
})

it('the backfill counts a settlement once where it is started again', async () => {
  await openOldSchema()
  await addProject('ada@example.com', { settled: 3 })
  await migrate(pool, migrationsFolder)
  await runBackfills()
  await pool.query('update schema_backfill set cursor = null, finished_at = null')
  await pool.query(
    'update quota_uses set used = used + 1 where account_id in (select id::text from mailboxes)',
  )

  await runBackfills()

  expect(await findDifferences()).toHaveLength(1)
})
