import { createHash, randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createAccountStore } from '../../../../src/stores/postgres/accounts/accountStore.js'
import { fillMailboxes } from '../../../../src/stores/postgres/accounts/registerAccount.js'
import { migrate } from '../../../../src/stores/postgres/database/migrate.js'
import { migrationsFolder } from '../../../../src/stores/stores.js'
import { canonicalMailbox } from '../../../../src/usecases/dashboard/mails.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { withoutConsumed } from '../../../support/withoutConsumed.js'
import { withoutExtensionTables } from '../../../support/withoutExtensionTables.js'
import { withoutMailboxes } from '../../../support/withoutMailboxes.js'
import { withoutMetering } from '../../../support/withoutMetering.js'
import { withoutReservations } from '../../../support/withoutReservations.js'
import { withoutTiersAndEvents } from '../../../support/withoutTiersAndEvents.js'

const { pool } = useTestDatabase()

const fingerprintOf = (project: string) => createHash('sha256').update(project).digest()

it('accounts and keys of an older version are migrated: same keys, shared mailboxes, summed free quota', async () => {
  await pool.query(
    `${withoutMetering}; ${withoutExtensionTables}; ${withoutReservations}; ${withoutTiersAndEvents}; ${withoutMailboxes}`,
  )
  const rows = [
    { email: 'Ada@Example.com', project: 'one', tier: 'free', used: 10 },
    { email: 'ada+tag@example.com', project: 'two', tier: 'free', used: 5 },
    { email: 'ada@example.com', project: 'paid', tier: 'scale', used: 7 },
    { email: 'bob@shop.example.co.uk', project: 'three', tier: 'free', used: 0 },
    { email: 'ada@bücher.example', project: 'four', tier: 'free', used: 1 },
  ]
  const ids = new Map<string, string>()
  for (const { email, project, tier, used } of rows) {
    const id = randomUUID()
    ids.set(project, id)
    await pool.query('insert into accounts (id, email, project, tier) values ($1, $2, $3, $4)', [
      id,
      email,
      project,
      tier,
    ])
    await pool.query(
      "insert into api_keys (account_id, fingerprint, sealed, status) values ($1, $2, 'x', 'rotated')",
      [id, fingerprintOf(`old ${project}`)],
    )
    await pool.query("insert into api_keys (account_id, fingerprint, sealed) values ($1, $2, 'x')", [
      id,
      fingerprintOf(project),
    ])
    await pool.query(
      `insert into quota_uses (account_id, month, used)
       values ($1, date_trunc('month', now() at time zone 'utc')::date, $2)`,
      [id, used],
    )
  }

  expect((await migrate(pool, migrationsFolder)).applied[0]).toBe('0010_mailboxes_and_keys.sql')
  await fillMailboxes(pool, canonicalMailbox)

  const store = createAccountStore(pool)
  const find = async (project: string) => {
    const use = await store.findByKey(fingerprintOf(project))
    if (use === null) throw new Error(`The key of ${project} was not found`)
    return use
  }
  for (const { project } of rows) {
    const { account, key } = await find(project)
    expect(account.id).toBe(ids.get(project))
    expect(key).toMatchObject({
      name: 'Default',
      scopes: ['verify', 'settle', 'read', 'manage'],
      status: 'active',
      isPrimary: true,
      expiresAt: null,
    })
    expect(await store.findByKey(fingerprintOf(`old ${project}`))).toBeNull()
  }
  for (const { project, tier } of rows) {
    const { account } = await find(project)
    expect(account).toMatchObject({ customer: ids.get(project), isProven: tier === 'free' ? null : true })
  }
  const { rows: used } = await pool.query(
    "select used from quota_uses q join mailboxes m on m.id::text = q.account_id where m.mailbox = 'ada@example.com'",
  )
  expect(used).toEqual([{ used: '15' }])
  const { rows: mailboxes } = await pool.query(
    'select mailbox, domain from mailboxes order by mailbox collate "C"',
  )
  expect(mailboxes).toEqual([
    { mailbox: 'ada@example.com', domain: 'example.com' },
    { mailbox: 'ada@xn--bcher-kva.example', domain: 'xn--bcher-kva.example' },
    { mailbox: 'bob@shop.example.co.uk', domain: 'example.co.uk' },
  ])
  // The migration and the service agree about every address.
  for (const { email } of rows) expect(mailboxes).toContainEqual(canonicalMailbox(email))
})

it('tiers count as granted where the audit log shows a grant, or is too young to show that there was none', async () => {
  await pool.query(`${withoutConsumed}; truncate accounts, api_keys cascade`)
  const cases = [
    { project: 'granted', tier: 'basic', actions: ['account.registered', 'tier.changed'], isGranted: true },
    { project: 'registered', tier: 'basic', actions: ['account.registered'], isGranted: false },
    { project: 'granted long ago', tier: 'basic', actions: [], isGranted: true },
    { project: 'free', tier: 'free', actions: [], isGranted: false },
    { project: 'free again', tier: 'free', actions: ['tier.changed', 'tier.changed'], isGranted: false },
  ]
  for (const { project, tier, actions } of cases) {
    const id = randomUUID()
    await pool.query(
      "insert into accounts (id, email, project, tier) values ($1, 'ada@example.com', $2, $3)",
      [id, project, tier],
    )
    for (const action of actions) {
      await pool.query("insert into audit_log (account_id, action, actor) values ($1, $2, 'test')", [
        id,
        action,
      ])
    }
  }
  await migrate(pool, migrationsFolder)
  const { rows } = await pool.query('select project, is_granted from accounts')
  const granted = new Map(rows.map(({ project, is_granted }) => [project, is_granted]))
  for (const { project, isGranted } of cases)
    expect({ project, isGranted: granted.get(project) }).toEqual({ project, isGranted })
})
