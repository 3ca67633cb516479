import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { syncFolder } from '../../../../src/stores/postgres/backup/writeBackup.js'
import { createCreditStore } from '../../../../src/stores/postgres/credit/creditStore.js'
import { archiveSettlements } from '../../../../src/stores/postgres/journal/archiveSettlements.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createQuotas } from '../../../../src/stores/postgres/quota/quotas.js'
import {
  findMeteredDifferences,
  findMissingRows,
} from '../../../../src/stores/postgres/reconciliation/missingRows.js'
import { createStatistics } from '../../../../src/stores/postgres/statistics/statistics.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { forgetConsumed } from '../../../support/forgetConsumed.js'
import { addInstance, killInstances } from '../../../support/instances.js'
import { failedColumns, insertJournalRows } from '../../../support/journalRows.js'
import { waitLimitMs } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { makeTemporaryFolder } from '../../../support/temporaryFolder.js'
import { findWorkDifferences } from '../../../support/workTables.js'

const dayMs = 86_400_000
const midnight = (daysAgo: number): Date => new Date(Math.floor(Date.now() / dayMs) * dayMs - daysAgo * dayMs)
const before = midnight(100)
const always = { from: new Date(0), to: new Date('2100-01-01T00:00:00Z') }
const account = randomUUID()
const old = `now() - interval '200 days' - n * interval '1 minute'`

/** Payments of an account, which count for credit and quota. */
const counted = {
  caller: `'${account}'`,
  payer_wallet: `'0xpayer'`,
  payee_wallet: `'0xpayee' || n % 3`,
  dollar_decimals: '6',
  amount: '20000',
  authorized_amount: '20000',
  settled_amount: '20000',
  quota_month: `date_trunc('month', ${old})::date`,
  fee_rate: '0',
  created_at: old,
  closed_at: old,
} as const

describe('the archive of settlements', () => {
  const { pool, otherPool } = useTestDatabase()
  const credit = createCreditStore(pool, pool, { recountTimeoutMs: waitLimitMs })
  let file: string

  beforeEach(async () => {
    file = join(await makeTemporaryFolder('quittance-archive-'), 'settlements.csv.gz')
    await killInstances(pool)
    await emptyTables(
      pool,
      'consumed_authorizations',
      'settlements',
      'settlement_archives',
      'archived_credit',
      'dropped_broadcasts',
      'quota_uses',
      'operator_actions',
    )
  })

  const insert = async (
    count: number,
    columns: Readonly<Record<string, string>> = counted,
  ): Promise<void> => {
    await insertJournalRows(pool, { count, columns })
    await pool.query(`insert into quota_uses (account_id, month, used)
      select caller, quota_month, count(*) from settlements where quota_month is not null and state = 'confirmed' group by 1, 2
      on conflict (account_id, month) do update set used = excluded.used`)
    // They were consumed when they closed.
    await pool.query(`alter table consumed_authorizations disable trigger user;
      update consumed_authorizations c set consumed_at = s.closed_at from settlements s where s.id = c.settlement_id;
      alter table consumed_authorizations enable trigger user`)
  }
  const archive = () => archiveSettlements(pool, { file, before })
  const countRows = async (): Promise<number> => {
    const { rows } = await pool.query<{ count: string }>('select count(*) from settlements')
    return Number(rows[0]?.count)
  }
  const readLines = async (): Promise<readonly string[]> =>
    gunzipSync(await readFile(file))
      .toString()
      .trimEnd()
      .split('\n')
  const readFacts = async () => (await credit.read(['eip155:0xpayer']))[0]?.facts

  it('writes what is final and old to the file, with a header, and deletes it', async () => {
    await insert(3)
    await insert(2, { ...counted, created_at: 'now()', closed_at: 'now()', transaction: `'0xnew' || n` })

    expect(await archive()).toMatchObject({
      listed: 3,
      deleted: 3,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    })

    expect(await countRows()).toBe(2)
    const [header = '', ...rows] = await readLines()
    expect(header).toMatch(/^id,authorization_id,caller,.+,state,.+,transaction,/)
    expect(rows).toHaveLength(3)
    expect(rows.every((row) => row.split(',')[2] === account && row.includes('+00'))).toBe(true)
    const { rows: actions } = await pool.query('select action, target, after from operator_actions')
    expect(actions).toEqual([
      {
        action: 'settlements.archived',
        target: { file: 'settlements.csv.gz', before: before.toISOString() },
        after: { settlements: 3, sha256: expect.any(String) },
      },
    ])
  })

  it('leaves statistics, quotas, credit and reconciliation as they were', async () => {
    await insert(7)
    await insert(2, {
      ...counted,
      created_at: 'now()',
      closed_at: 'now()',
      quota_month: `date_trunc('month', now())::date`,
    })
    const quotas = createQuotas(pool)
    const now = new Date()
    const readAll = async () => ({
      totals: await createStatistics(pool).countSettlements(),
      used: await quotas.readUse(account, new Date(now.getTime() - 200 * dayMs)),
      days: await quotas.listDays(account, 300, now),
      facts: await readFacts(),
    })
    const was = await readAll()
    expect(was).toMatchObject({ totals: { confirmed: 9 }, facts: { payments: 9 } })

    await archive()

    expect(await readAll()).toEqual(was)
    expect(await findWorkDifferences(pool)).toEqual([])
    expect((await findMissingRows(pool, always)).counts).toEqual([])
    expect((await findMeteredDifferences(pool, always)).counts).toEqual([])
    expect(await credit.recount('eip155:0xpayer')).toEqual({ isComplete: true, repairs: 0 })
    await pool.query('select rebuild_credit()')
    expect(await readFacts()).toEqual(was.facts)
    expect(await findWorkDifferences(pool)).toEqual([])
  })

  it('keeps that an authorization has earned its success', async () => {
    await insert(1)
    const { rows } = await pool.query<{ authorization_id: string }>(
      'select authorization_id from settlements',
    )
    const { authorization_id: authorizationId = '' } = rows[0] ?? {}
    await archive()

    const journal = createSettlementJournal(pool, await addInstance(pool))
    expect(await journal.claim(claimOf({ authorizationId }))).toBeNull()
    expect(await journal.isConsumed(authorizationId)).toBe(true)
  })

  it.each([
    ['can be taken back by a reorg', { is_final: 'false' }],
    ['was closed lately', { closed_at: 'now()' }],
    ['pays the only payee of a network that sponsors payers', { network: `'ton:-239'` }],
  ])('leaves a settlement that %s', async (_, columns) => {
    await insert(1, { ...counted, ...columns })
    expect(await archive()).toEqual({ listed: 0, deleted: 0, sha256: '' })
    expect(await countRows()).toBe(1)
    await expect(readFile(file)).rejects.toThrow('ENOENT')
  })

  it('leaves a payment whose first attempt failed, so that it does not count against its payer', async () => {
    await insert(1, { ...counted, authorization_id: `'tried twice'` })
    await insert(1, { ...counted, ...failedColumns, authorization_id: `'tried twice'` })
    const was = await readFacts()

    expect(await archive()).toMatchObject({ listed: 0 })
    await credit.recount('eip155:0xpayer')
    expect(await readFacts()).toEqual(was)
  })

  it('leaves a settlement whose authorization is not recorded as consumed by it', async () => {
    await insert(2)
    await pool.query(forgetConsumed)
    expect(await archive()).toMatchObject({ listed: 0 })
  })

  it('continues where it was interrupted, with the file that it wrote', async () => {
    await insert(700)
    await pool.query(`create function interrupt() returns trigger language plpgsql as $$ begin
        if (select max(deleted) from settlement_archives) >= 500 then raise exception 'interrupted'; end if;
        return null;
      end $$;
      create trigger interrupted before delete on settlements for each statement execute function interrupt()`)
    await expect(archive()).rejects.toThrow('interrupted')
    expect(await countRows()).toBe(200)
    expect(await findWorkDifferences(pool)).toEqual([])
    await pool.query('drop function interrupt cascade')

    const other = archiveSettlements(otherPool, { file: `${file}.other`, before })
    await expect(other).rejects.toThrow(/settlements.csv.gz is not finished/)
    expect(await archive()).toMatchObject({ listed: 700, deleted: 200 })
    expect(await countRows()).toBe(0)
    expect(await findWorkDifferences(pool)).toEqual([])
    await expect(archive()).rejects.toThrow(/overwrites no file/)
  })

  it('quotes texts of callers, and reads rows that they break', async () => {
    const resource = `https://a.example/?x="1",\n2`
    await insert(2, { ...counted, resource: `e'https://a.example/?x="1",\\n2'` })
    expect(await archive()).toMatchObject({ listed: 2, deleted: 2 })
    expect(gunzipSync(await readFile(file)).toString()).toContain(`"${resource.replaceAll('"', '""')}"`)
  })

  it('refuses a file that it did not write, and deletes nothing', async () => {
    await insert(1)
    await writeFile(file, gzipSync('name\nnotes\n'))
    await expect(archive()).rejects.toThrow(/no archive/)
    expect(await countRows()).toBe(1)
  })

  it('deletes nothing while an instance lives that counts credit from settlements alone', async () => {
    await insert(600)
    const { id } = await addInstance(pool)
    await pool.query('update instances set newest_migration = 46 where id = $1', [id])
    await expect(archive()).rejects.toThrow(/1 instances of an older version.*Stop them/)
    expect([await countRows(), existsSync(file)]).toEqual([600, false])

    await pool.query('update instances set newest_migration = 47 where id = $1', [id])
    // It is replaced by one of an older version while the archive deletes.
    await pool.query(`create function replace_version() returns trigger language plpgsql as $$ begin
        update instances set newest_migration = 46; return null;
      end $$;
      create trigger replaced after delete on settlements for each statement execute function replace_version()`)
    await expect(archive()).rejects.toThrow(/older version/)
    expect(await countRows()).toBe(100)
    await pool.query('drop function replace_version cascade')
    await killInstances(pool)
    expect(await archive()).toMatchObject({ listed: 600, deleted: 100 })
  })

  it('deletes nothing before the folder of the file is synced, also when it continues', async () => {
    await insert(1)
    const sync = async () => {
      throw Object.assign(new Error('input/output error'), { code: 'EIO' })
    }
    for (let attempt = 0; attempt < 2; attempt += 1) {
      await expect(archiveSettlements(pool, { file, before, sync })).rejects.toThrow(/Nothing was deleted/)
      expect([await countRows(), existsSync(file)]).toEqual([1, true])
    }
    expect(await archive()).toMatchObject({ listed: 1, deleted: 1 })
  })

  it('ignores that a folder cannot be synced only where the file system has no such thing', async () => {
    await expect(syncFolder('/proc')).resolves.toBeUndefined()
    await expect(syncFolder(`${file}.missing`)).rejects.toThrow('ENOENT')
  })

  it.each([
    ['with nothing in it', Buffer.alloc(0)],
    ['that ends in the middle', gzipSync(`id,authorization_id\n${'0,1\n'.repeat(9_999)}`).subarray(0, 40)],
  ])('takes over a file of an archive that was ended by force, %s', async (_, bytes) => {
    await insert(3)
    await writeFile(`${file}.part`, bytes)
    expect(await archive()).toMatchObject({ listed: 3, deleted: 3 })
    expect(existsSync(`${file}.part`)).toBe(false)
  })

  it.each([
    ['a backup', gzipSync('{"format":"quittance backup"}')],
    ['somebody', Buffer.from('id,notes')],
  ])('leaves a partial file that %s wrote, and deletes nothing', async (_, bytes) => {
    await insert(1)
    await writeFile(`${file}.part`, bytes)
    await expect(archive()).rejects.toThrow(/no archive wrote it/)
    expect((await stat(`${file}.part`)).size).toBe(bytes.length)
    expect([await countRows(), existsSync(file)]).toEqual([1, false])
  })

  it('leaves the partial file of an archive that is under way', async () => {
    await insert(1)
    const holder = await otherPool.connect()
    await holder.query('begin; select pg_advisory_xact_lock(7140404)')
    await writeFile(`${file}.part`, '')
    await expect(archive()).rejects.toThrow(/Another archive is under way/)
    expect(existsSync(`${file}.part`)).toBe(true)
    await holder.query('rollback')
    holder.release()
    expect(await archive()).toMatchObject({ deleted: 1 })
  })

  it('refuses a day that reconciliation, quotas and webhooks still need', async () => {
    const tooLate = archiveSettlements(pool, { file, before: midnight(89) })
    await expect(tooLate).rejects.toThrow(/younger than 90 days/)
  })
})
