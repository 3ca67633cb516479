import { beforeEach, describe, expect, it } from 'vitest'
import type { Mail, Mailer } from '../../../src/ports/accountStore.js'
import { getTier, specificationTiers, type Tiers } from '../../../src/protocol/tiers.js'
import { createAccountStore } from '../../../src/stores/postgres/accounts/accountStore.js'
import { fillMailboxes } from '../../../src/stores/postgres/accounts/registerAccount.js'
import { createSettlementJournal } from '../../../src/stores/postgres/journal/settlementJournal.js'
import { createQuotas } from '../../../src/stores/postgres/quota/quotas.js'
import type { Registration } from '../../../src/usecases/dashboard/apiKey.js'
import { canonicalMailbox } from '../../../src/usecases/dashboard/mails.js'
import type { Client, KeyHolder, KeyViewer } from '../../../src/usecases/dashboard/useCases.js'
import { claimOf } from '../../support/claimOf.js'
import { emptyTables } from '../../support/emptyTables.js'
import { addInstance } from '../../support/instances.js'
import { drainEventLoop } from '../../support/manualClock.js'
import { useTestDatabase } from '../../support/postgres.js'
import { apiKeySealer, now, openDashboard, useKey } from './scene.js'

const spellings = [
  'victim@bücher.example',
  'Victim+1@bücher.example',
  'victim+2@xn--bcher-kva.example',
  'ｖｉｃｔｉｍ@bücher.example',
  'VICTIM@BÜCHER.example',
]

/* The number refers to the project's list of attacks on facilitators. */

describe('one mailbox in many spellings (A51)', () => {
  const database = useTestDatabase()
  beforeEach(() =>
    emptyTables(database.pool, 'accounts', 'api_keys', 'mailboxes', 'quota_uses', 'settlements'),
  )

  const createMailbox = () => {
    const mails: Mail[] = []
    const mailer: Mailer = { send: (mail) => void mails.push(mail), close: async () => undefined }
    return { mails, mailer }
  }
  const settledDrained = async () => {
    for (let turn = 0; turn < 20; turn += 1) await drainEventLoop()
  }

  it('receives five e-mails an hour in total', async () => {
    const { mails, mailer } = createMailbox()
    const dashboard = openDashboard(database, { registration: { mode: 'verified', mailer } })
    for (const email of [...spellings, ...spellings]) {
      await dashboard.register({ email, projectName: 'engine' }, 'stranger')
    }
    await settledDrained()
    expect(mails).toHaveLength(5)
  })

  it('has one free quota, which concurrent settlements of all its projects share', async () => {
    const { pool } = database
    const dashboard = openDashboard(database, { quotas: createQuotas(pool) })
    const holders = await Promise.all(
      spellings.map(async (email) => {
        const client = { address: '203.0.113.7', network: '203.0.113.7' }
        const { apiKey } = await dashboard.register({ email, projectName: email }, 'stranger', client)
        return await useKey(dashboard, apiKey)
      }),
    )
    const [first] = holders
    if (first === undefined) throw new Error('No account was registered')
    expect(new Set(holders.map(({ customer }) => customer)).size).toBe(1)
    await pool.query("insert into quota_uses (account_id, month, used) values ($1, '2026-11-01', 997)", [
      first.customer,
    ])

    const journal = createSettlementJournal(pool, await addInstance(pool))
    const outcomes = await Promise.allSettled(
      holders.map(({ id, customer, tier }, index) =>
        journal.claim(claimOf({ caller: id, authorizationId: `payment ${index}` }), {
          customer,
          tier: getTier(specificationTiers, tier),
          at: now,
        }),
      ),
    )
    const opened = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    expect(opened).toHaveLength(3)
    for (const holder of holders) expect((await dashboard.readInfo(holder)).quota.used).toBe(1_000)

    // A failed settlement gives its transaction back to the mailbox.
    await journal.close(opened[0]?.id ?? '', { state: 'failed', reason: 'insufficient_funds' })
    expect((await dashboard.readInfo(first)).quota.used).toBe(999)
  })

  describe('is one customer', () => {
    const { mailer } = createMailbox()
    const atHome = { address: '203.0.113.7', network: '203.0.113.7' }
    const elsewhere = { address: '2001:db8::9', network: '2001:db8:0:0::/64' }
    let projects = 0
    const trusted = 'trusted' as const
    const stranger = 'stranger' as const
    /** Registers a project for each client, in this mode, and authenticates its key. */
    const openAs = async (
      mode: 'open' | 'once' | 'verified',
      clients: readonly Client[],
      viewer: KeyViewer = stranger,
    ) => {
      const registration: Registration = mode === 'verified' ? { mode, mailer } : { mode }
      const dashboard = openDashboard(database, { registration })
      for (const [index, client] of clients.entries()) {
        const email = spellings[index % spellings.length] ?? ''
        projects += 1
        await dashboard.register({ email, projectName: `p${projects}` }, viewer, client)
      }
      const { rows } = await database.pool.query(
        'select sealed, account_id::text as id from api_keys order by api_keys.id',
      )
      return await Promise.all(
        rows.slice(-clients.length).map(({ sealed, id }) => useKey(dashboard, apiKeySealer.open(sealed, id))),
      )
    }
    const customersOf = (holders: readonly KeyHolder[]) => new Set(holders.map(({ customer }) => customer))

    it('in all projects that were mailed to it, whoever asked for them', async () => {
      const holders = await openAs('verified', [atHome, elsewhere, atHome])
      expect(customersOf(holders).size).toBe(1)
      expect(holders.map(({ isProven }) => isProven)).toEqual([true, true, true])
    })

    it('in all projects that an operator or a local program registered', async () => {
      const holders = await openAs('once', [atHome, elsewhere], trusted)
      expect(customersOf(holders).size).toBe(1)
      expect(holders.map(({ isProven }) => isProven)).toEqual([true, true])
    })

    it.each(['once', 'open'] as const)(
      'with REGISTRATION=%s in all projects of one network, and never one with who names it elsewhere',
      async (mode) => {
        const own = await openAs(mode, [atHome, atHome, { ...atHome, address: '203.0.113.8' }])
        expect(customersOf(own).size).toBe(1)
        const [foreign] = await openAs(mode, [elsewhere])
        expect(customersOf(own)).not.toContain(foreign?.customer)
        expect([...own, foreign].map((holder) => holder?.isProven)).toEqual([false, false, false, false])
      },
    )

    it('in projects that a stranger registered only by the word of the stranger', async () => {
      const [mailed] = await openAs('verified', [atHome])
      const [named] = await openAs('once', [atHome])
      expect(named?.customer).not.toBe(mailed?.customer)
    })

    it.each([
      ['verified', true],
      ['once', false],
    ] as const)(
      'but no project of older versions, which is one alone; with REGISTRATION=%s it is proven: %s',
      async (mode, isProven) => {
        await openAs('once', [atHome, elsewhere])
        await database.pool.query('update accounts set is_proven = null, registrant = null')
        const registration: Registration = mode === 'verified' ? { mode, mailer } : { mode }
        const dashboard = openDashboard(database, { registration })
        const { rows } = await database.pool.query('select sealed, account_id::text as id from api_keys')
        const holders = await Promise.all(
          rows.map(({ sealed, id }) => useKey(dashboard, apiKeySealer.open(sealed, id))),
        )
        expect(holders.map((holder) => holder.isProven)).toEqual([isProven, isProven])
        // A stranger may have named the mailbox of a merchant, whose own projects are proven.
        const [mailed] = await openAs('verified', [{ ...atHome, address: '203.0.113.9' }])
        expect(customersOf(holders)).toEqual(new Set(holders.map(({ id }) => id)))
        expect(customersOf(holders)).not.toContain(mailed?.customer)
      },
    )

    it('that is another one than with a dot', async () => {
      const dashboard = openDashboard(database)
      const holders = await Promise.all(
        ['ada.l@example.com', 'adal@example.com'].map(async (email) => {
          const { apiKey } = await dashboard.register({ email, projectName: 'engine' }, stranger, atHome)
          return await useKey(dashboard, apiKey)
        }),
      )
      expect(customersOf(holders).size).toBe(2)
    })
  })

  it('shares no quota with the projects of a tier that an operator granted, whatever tiers are configured', async () => {
    const { pool } = database
    const client = { address: '203.0.113.7', network: '203.0.113.7' }
    const dashboard = openDashboard(database, { quotas: createQuotas(pool) })
    const registered = { email: 'ada@example.com', projectName: 'one' }
    const { apiKey } = await dashboard.register(registered, 'stranger', client)
    const free = await useKey(dashboard, apiKey)
    expect(free.customer).not.toBe(free.id)

    const { free: starter } = specificationTiers.table
    if (starter === undefined) throw new Error('There is no tier free')
    const table = { starter, ...specificationTiers.table }
    const extended: Tiers = { table, source: 'configured', registration: 'starter' }
    const accounts = createAccountStore(pool, async () => undefined, extended)
    expect(await accounts.find(free.id)).toMatchObject({ isProven: false, customer: free.customer })

    await accounts.setTier(free.id, 'builder')
    expect(await useKey(dashboard, apiKey)).toMatchObject({ isProven: true, customer: free.id })
    expect(await accounts.find(free.id)).toMatchObject({ isProven: true, customer: free.id })
    await accounts.setTier(free.id, 'starter')
    expect(await accounts.find(free.id)).toMatchObject({ isProven: false, customer: free.customer })
  })

  it('registers a capped number of projects, also concurrently', async () => {
    const dashboard = openDashboard(database, { caps: { projectsPerMailbox: 3 } })
    const outcomes = await Promise.allSettled(
      Array.from({ length: 10 }, (_none, index) =>
        dashboard.register(
          { email: spellings[index % spellings.length] ?? '', projectName: `p${index}` },
          'stranger',
        ),
      ),
    )
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    for (const outcome of outcomes) {
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'FORBIDDEN' })
    }
    const { rows } = await database.pool.query('select email, project from accounts limit 1')
    // An existing project is returned, not refused.
    const known = { email: String(rows[0].email), projectName: String(rows[0].project) }
    expect((await dashboard.register(known, 'stranger')).isNew).toBe(false)
  })

  it('receives the same response beyond a cap when registration is verified', async () => {
    const { mails, mailer } = createMailbox()
    const dashboard = openDashboard(database, {
      registration: { mode: 'verified', mailer },
      caps: { projectsPerMailbox: 1 },
    })
    const first = await dashboard.register({ email: 'ada@example.com', projectName: 'one' }, 'stranger')
    const capped = await dashboard.register({ email: 'ada@example.com', projectName: 'two' }, 'stranger')
    expect({ ...capped, projectName: 'one' }).toEqual(first)
    await settledDrained()
    expect(mails).toHaveLength(1)
  })

  it('counts against a cap of its domain and subdomains, but not of a public provider', async () => {
    const dashboard = openDashboard(database, {
      caps: { mailboxesPerDomain: 3, publicMailDomains: ['gmail.example'] },
    })
    const register = async (email: string) => {
      const registering = dashboard.register({ email, projectName: 'engine' }, 'stranger')
      return await registering.then(
        () => 'registered',
        (error: { code: string }) => error.code,
      )
    }
    const hosts = ['farm.example', 'a.farm.example', 'b.farm.example', 'c.farm.example', 'FARM.example']
    const farmed = await Promise.all(hosts.map((host, index) => register(`bot${index}@${host}`)))
    expect(farmed.filter((each) => each === 'registered')).toHaveLength(3)
    expect(farmed.filter((each) => each === 'FORBIDDEN')).toHaveLength(2)
    for (let index = 0; index < 5; index += 1) {
      expect(await register(`person${index}@gmail.example`)).toBe('registered')
    }
    expect(await register('ada@other.example')).toBe('registered')
  })

  it('receives no text that a stranger chose as project name (A52)', async () => {
    const { mails, mailer } = createMailbox()
    const dashboard = openDashboard(database, { registration: { mode: 'verified', mailer }, mailer })
    const projectName = 'Your account is locked, call 0800 555 now'
    await dashboard.register({ email: 'ada@example.com', projectName }, 'stranger')
    await dashboard.lookUp('ada@example.com', 'stranger')
    await settledDrained()
    expect(mails).toHaveLength(2)
    for (const { text, subject } of mails) expect(`${subject} ${text}`).not.toMatch(/locked|0800|call/i)
  })

  it('is filled in for accounts of an older version', async () => {
    const { pool } = database
    await pool.query(
      `insert into accounts (id, email, project) values
         (gen_random_uuid(), 'Ada+1@BÜCHER.example', 'one'), (gen_random_uuid(), 'ada@xn--bcher-kva.example', 'two'),
         (gen_random_uuid(), 'eve@example.com', 'three')`,
    )
    await Promise.all([
      fillMailboxes(pool, canonicalMailbox),
      fillMailboxes(database.otherPool, canonicalMailbox),
    ])
    const { rows } = await pool.query(
      'select m.mailbox, a.project from accounts a join mailboxes m on m.id = a.mailbox_id order by a.project',
    )
    expect(rows).toEqual([
      { mailbox: 'ada@xn--bcher-kva.example', project: 'one' },
      { mailbox: 'eve@example.com', project: 'three' },
      { mailbox: 'ada@xn--bcher-kva.example', project: 'two' },
    ])
  })
})
