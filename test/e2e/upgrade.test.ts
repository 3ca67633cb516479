import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DemoWorld } from '../demo/world.js'
import { signedWorlds } from '../demo/worlds/index.js'
import { openCore } from '../support/core.js'
import { createCoreClient } from '../support/coreClient.js'
import { useTestDatabase } from '../support/postgres.js'
import { withoutExtensionTables } from '../support/withoutExtensionTables.js'
import { withoutMailboxes } from '../support/withoutMailboxes.js'
import { withoutMetering } from '../support/withoutMetering.js'
import { withoutReservations } from '../support/withoutReservations.js'
import { withoutTiersAndEvents } from '../support/withoutTiersAndEvents.js'

/** The schema before `0009_work_tables_and_counters.sql`, with rows. */
const downgradeWorkTables = `
  drop trigger settlements_opened on settlements;
  drop trigger settlements_changed on settlements;
  drop trigger settlements_truncated on settlements;
  drop function track_opened_settlements, track_changed_settlements, track_truncated_settlements;
  drop table open_settlements, unfinal_settlements, settlement_totals, account_days, job_leases;
  drop index if exists settlements_of_account, settlements_closed_by_network, webhook_deliveries_ready,
    webhook_deliveries_later, webhook_deliveries_waiting, webhook_deliveries_ended;
  alter table webhook_deliveries drop column is_ready;
  create index settlements_open on settlements (created_at) where state in ('claimed', 'pending');
  create index settlements_unfinal on settlements (network, block_number)
    where block_hash is not null and not is_final;
  create index settlements_closed on settlements (state, created_at desc, id desc)
    where state in ('confirmed', 'failed');
  create index settlements_by_account on settlements (caller, created_at desc, id desc)
    where caller <> 'anonymous';
  create index webhook_deliveries_due on webhook_deliveries (account_id, due_at) where state = 'waiting';
  delete from schema_migration where number = 9`

/** The schema before `0007_amounts_and_details.sql`, with rows. */
const downgrade = `
  ${withoutMetering};
  ${withoutExtensionTables};
  ${withoutReservations};
  ${withoutTiersAndEvents};
  ${withoutMailboxes};
  ${downgradeWorkTables};
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

describe.each(Object.keys(signedWorlds))('rows of an older version on %s', (family) => {
  const database = useTestDatabase()
  let world: DemoWorld

  beforeAll(async () => {
    world = await (signedWorlds[family]?.() ?? Promise.reject(new Error('There is no such world')))
  })
  afterAll(() => world.close())

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
    const { pool } = database
    // Before `0031_sponsored_payments.sql` rows had no such mark.
    await pool.query(`update settlements set details = details - 'sponsored'`)
    const readRow = async () =>
      (await pool.query('select state, authorized_amount, settled_amount, details from settlements')).rows[0]
    const written = await readRow()
    const countWork = async () =>
      (
        await pool.query(
          `select (select sum(confirmed) from settlement_totals) as confirmed,
             (select count(*) from open_settlements) as open,
             (select count(*) from unfinal_settlements) as unfinal`,
        )
      ).rows[0]
    const work = await countWork()

    await pool.query(downgrade)
    const upgraded = await open()
    expect(await readRow()).toEqual(written)
    expect(written).toMatchObject({ state: 'confirmed', authorized_amount: '10000', settled_amount: '10000' })
    expect(await countWork()).toEqual(work)
    expect(work).toMatchObject({ confirmed: '1', open: '0' })
    await upgraded.close()

    await pool.query(`${downgrade}; ${reopen}`)
    const resolving = await open()
    expect(await readRow()).toEqual({ ...written, state: 'pending', settled_amount: null })
    expect(await countWork()).toEqual({ confirmed: '0', open: '1', unfinal: '0' })
    await createCoreClient(resolving).reconcile()
    expect(await readRow()).toEqual(written)
    expect(await resolving.useCases.core.getSettlement(settlementId)).toMatchObject({
      status: 'confirmed',
      transaction,
      amount: '10000',
    })
    await resolving.close()
  })
})
