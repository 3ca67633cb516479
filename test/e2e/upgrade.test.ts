import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DemoWorld } from '../demo/world.js'
import { worlds } from '../demo/worlds/index.js'
import { openCore } from '../support/core.js'
import { createCoreClient } from '../support/coreClient.js'
import { createTestDatabase, type TestDatabase } from '../support/postgres.js'
import { withoutMailboxes } from '../support/withoutMailboxes.js'

/** The schema before `0007_amounts_and_details.sql`, with rows. */
const downgrade = `
  ${withoutMailboxes};
  drop view fee_ledger;
  alter table settlements drop column authorized_amount, drop column settled_amount, drop column gas_used,
    drop column details;
  alter table settlements add constraint settlements_check
    check (state in ('claimed', 'failed') or transaction is not null);
  create view fee_ledger as
    select id as settlement_id, caller as account_id, network, asset, amount, fee_rate,
      trim_scale(amount * fee_rate) as fee, closed_at as accrued_at
    from settlements where state = 'confirmed' and fee_rate is not null;
  alter table idempotent_requests drop column reason;
  delete from schema_migration where number >= 7`

/** Leaves every settlement like a process that dies between sending and closing. */
const reopen = `
  update settlements set state = 'pending', closed_at = null, consumed_by = null, owner = null,
    block_number = null, block_hash = null, is_final = false`

describe.each(Object.keys(worlds))('rows of an older version on %s', (family) => {
  let database: TestDatabase
  let world: DemoWorld

  beforeAll(async () => {
    database = await createTestDatabase()
    world = await (worlds[family]?.() ?? Promise.reject(new Error('There is no such world')))
  }, 60_000)
  afterAll(async () => {
    await world.close()
    await database.drop()
  })

  const open = () => openCore({ databaseUrl: database.url, environment: world.environment })

  it('are migrated, read and resolved', async () => {
    const older = await open()
    const {
      success,
      settlementId = '',
      transaction,
    } = await createCoreClient(older).settle(await world.signPayment())
    expect(success).toBe(true)
    await older.close()
    const pool = database.pool()
    const readRow = async () =>
      (await pool.query('select state, authorized_amount, settled_amount, details from settlements')).rows[0]
    const written = await readRow()

    await pool.query(downgrade)
    const upgraded = await open()
    expect(await readRow()).toEqual(written)
    expect(written).toMatchObject({ state: 'confirmed', authorized_amount: '10000', settled_amount: '10000' })
    await upgraded.close()

    await pool.query(`${downgrade}; ${reopen}`)
    const resolving = await open()
    expect(await readRow()).toEqual({ ...written, state: 'pending', settled_amount: null })
    await createCoreClient(resolving).reconcile()
    expect(await readRow()).toEqual(written)
    expect(await resolving.useCases.core.getSettlement(settlementId)).toMatchObject({
      status: 'confirmed',
      transaction,
      amount: '10000',
    })
    await resolving.close()
  }, 60_000)
})
