import { beforeEach, describe, expect, it } from 'vitest'
import type { ProbeResponse } from '../../../../src/ports/discovery.js'
import { createDiscoveryCatalogue } from '../../../../src/stores/postgres/discovery/discoveryCatalogue.js'
import { createOwnerChallenges } from '../../../../src/stores/postgres/discovery/ownerChallenges.js'
import {
  bazaarOf,
  clearDiscovery,
  createTestDiscovery,
  merchant,
  type SettlementOptions,
} from '../../../support/discovery.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'

const squatter = '0x00000000000000000000000000000000000000AA'
const url = 'https://weather.example/v1/forecast'
const statement = 'https://weather.example/.well-known/x402.json'
const hourMs = 3_600_000

const naming = (...recipients: readonly string[]): ProbeResponse => ({
  status: 402,
  paymentRequired: null,
  body: JSON.stringify({ accepts: recipients.map((payTo) => ({ network: 'base-sepolia', payTo })) }),
  error: null,
})
const pending = { status: 'processing', listing: 'pending', rule: 'ownership_unproven' }
const refused = { status: 'rejected', rule: 'claimed_by_another_payee' }
type Site = Readonly<Record<string, ProbeResponse>>
const site =
  (files: Site) =>
  (asks: string): ProbeResponse =>
    files[asks] ?? { status: 404, paymentRequired: null, body: '', error: null }
const stating = (file: object): ProbeResponse => ({
  status: 200,
  paymentRequired: null,
  body: JSON.stringify(file),
  error: null,
})
const template = (routeTemplate: string) => ({ ...bazaarOf(), routeTemplate })

describe('a listing that two payees claim', () => {
  const { pool } = useTestDatabase()
  beforeEach(() => clearDiscovery(pool))

  const open = (respond: (url: string) => ProbeResponse | Promise<ProbeResponse>) => {
    const asked: string[] = []
    const discovery = createTestDiscovery(createDiscoveryCatalogue(pool), {
      challenges: createOwnerChallenges(pool),
      probe: {
        ask: async (asks) => {
          asked.push(asks)
          return await respond(asks)
        },
      },
    })
    const probe = () => discovery.jobs.probeOwners.run(new AbortController().signal)
    return { ...discovery, asked, probe }
  }
  const countWaiting = async () =>
    (await pool.query(`select from discovery_challenges where state = 'waiting'`)).rowCount

  it('moves to the recipient that the resource names, without the payers and terms of the first', async () => {
    const { settle, list, probe, asked, clock } = open(() => naming(merchant))
    for (let payer = 0; payer < 3; payer += 1) {
      await settle({ caller: 's', payTo: squatter, amount: 1n, details: { description: 'theirs' } })
    }
    const shop: SettlementOptions = { caller: 'a', details: { description: 'ours' } }
    expect(await settle(shop)).toMatchObject(pending)
    expect(await settle(shop)).toMatchObject(pending)
    expect((await list()).items).toMatchObject([{ description: 'theirs' }])
    await probe()
    expect(await settle(shop)).toMatchObject({ status: 'success', listing: 'listed' })
    const { items } = await list()
    expect(items).toMatchObject([{ description: 'ours', accepts: [{ payTo: merchant }], distinctPayers: 1 }])
    expect(items[0]?.accepts).toHaveLength(1)
    expect((await list({ payTo: squatter })).items).toEqual([])
    expect(await settle({ caller: 's', payTo: squatter })).toMatchObject(refused)
    await probe()
    expect(asked).toEqual([url])
    await clock.advance(hourMs)
    expect(await settle({ caller: 's', payTo: squatter })).toMatchObject(pending)
    await probe()
    expect(await settle({ caller: 's', payTo: squatter })).toMatchObject(refused)
  })

  it.each([
    ['is answered as the shop was', naming(merchant)],
    ['keeps the resource from answering', { status: null, error: 'The host does not answer' } as const],
  ])(
    'moves for a shop that settles seldom, though a squatter asks meanwhile and %s',
    async (_case, later) => {
      let response: ProbeResponse = naming(merchant)
      const { settle, probe, clock } = open(() => response)
      await settle({ caller: 's', payTo: squatter })
      expect(await settle({ caller: 'a' })).toMatchObject(pending)
      await probe()
      await clock.advance(hourMs + 1)
      response = later
      await settle({ caller: 's', payTo: '0x00000000000000000000000000000000000000bb' })
      await probe()
      await clock.advance(hourMs + 1)
      expect(await settle({ caller: 'a' })).toMatchObject({ status: 'success', listing: 'listed' })
    },
  )

  it('stays with its owner when the resource does not name the challenger, who is refused for a day', async () => {
    const { settle, list, probe, asked, clock } = open(() => naming(merchant))
    await settle({ details: { description: 'ours' } })
    const theirs = { payTo: squatter, details: { description: 'theirs' } }
    expect(await settle(theirs)).toMatchObject(pending)
    await probe()
    expect(await settle(theirs)).toMatchObject({
      ...refused,
      reason: expect.stringContaining('does not ask to pay the recipient'),
    })
    await clock.advance(24 * hourMs - 1)
    expect(await settle(theirs)).toMatchObject(refused)
    await probe()
    expect(asked).toHaveLength(1)
    await clock.advance(1)
    expect(await settle(theirs)).toMatchObject(pending)
    expect((await list()).items).toMatchObject([{ description: 'ours', accepts: [{ payTo: merchant }] }])
  })

  it('gets the terms of a second recipient that the resource names beside the first', async () => {
    const { settle, list, probe } = open(() => naming(merchant, squatter))
    await settle({ caller: 'a', details: { description: 'ours' } })
    const second = { caller: 'b', payTo: squatter, details: { description: 'theirs' } }
    await settle(second)
    await probe()
    expect(await settle(second)).toMatchObject({ status: 'success' })
    const { items } = await list()
    expect(items).toMatchObject([{ description: 'ours', distinctPayers: 2 }])
    expect(items[0]?.accepts.map(({ payTo }) => payTo)).toEqual([squatter, merchant])
  })

  it.each([
    ['another status', { status: 200, paymentRequired: null, body: '', error: null }, 'status 200'],
    ['no answer', { status: null, error: 'The host has no public address' }, 'no public address'],
  ] as const)(
    'says what was seen in place of a 402: %s; it asks again after an hour',
    async (_case, response, seen) => {
      const { settle, probe, clock } = open(() => response)
      await settle({ payTo: squatter })
      await settle()
      await probe()
      expect(await settle()).toMatchObject({
        status: 'rejected',
        rule: 'ownership_unproven',
        reason: expect.stringContaining(seen),
      })
      await clock.advance(hourMs)
      expect(await settle()).toMatchObject(pending)
    },
  )

  it('is not kept from its owner by a squatter who unlists it', async () => {
    const { settle, list, useCases, probe } = open(() => naming(merchant))
    const id = String((await settle({ caller: 's', payTo: squatter }))?.id)
    await useCases.changeListing(id, 'unlist', { accountId: 's', signature: null })
    await settle()
    await probe()
    expect(await settle()).toMatchObject({ listing: 'listed' })
    expect((await list()).items).toMatchObject([{ accepts: [{ payTo: merchant }] }])
  })

  it.each([
    ['listed', 's'],
    ['unlisted', 's'],
    ['listed', 'another key of the squatter'],
    ['unlisted', 'another key of the squatter'],
  ])('is the shop’s, though a squatter keeps it %s and pays the shop as %s', async (state, caller) => {
    const { settle, list, useCases, probe } = open(() => naming(merchant))
    const id = String((await settle({ caller: 's', payTo: squatter }))?.id)
    await settle({ caller })
    await probe()
    await settle({ caller })
    const unlist = async () => {
      const by = [caller, 's'].map((accountId) => ({ accountId, signature: null }))
      await Promise.allSettled(by.map((each) => useCases.changeListing(id, 'unlist', each)))
    }
    if (state === 'unlisted') await unlist()
    await settle()
    await probe()
    expect(await settle()).toMatchObject({ listing: 'listed' })
    await unlist()
    const { items } = await list()
    expect(items).toMatchObject([{ accepts: [{ payTo: merchant }] }])
    expect(JSON.stringify(items)).not.toContain(squatter)
  })

  it('that a squatter joined with the shop, while resources were not asked, is the shop’s by its answer', async () => {
    const before = createTestDiscovery(createDiscoveryCatalogue(pool))
    const id = String((await before.settle({ caller: 's', payTo: squatter }))?.id)
    await before.settle({ caller: 's' })
    await before.useCases.changeListing(id, 'unlist', { accountId: 's', signature: null })
    const { settle, list, useCases, probe } = open(() => naming(merchant))
    expect(await settle()).toMatchObject(pending)
    await probe()
    expect(await settle()).toMatchObject({ listing: 'listed' })
    const { items } = await list()
    expect(items).toMatchObject([{ accepts: [{ payTo: merchant }] }])
    expect(items[0]?.accepts).toHaveLength(1)
    await expect(
      useCases.changeListing(id, 'unlist', { accountId: 's', signature: null }),
    ).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })

  it('stays unlisted by its owner, who settles to a new recipient that the resource names', async () => {
    const { settle, list, useCases, probe } = open(() => naming(merchant))
    const id = String((await settle({ caller: 'a', payTo: squatter }))?.id)
    await useCases.changeListing(id, 'unlist', { accountId: 'a', signature: null })
    await settle({ caller: 'a' })
    await probe()
    expect(await settle({ caller: 'a' })).toMatchObject({ rule: 'unlisted_by_owner' })
    expect((await list()).items).toEqual([])
  })

  it.each(['POST', 'PUT', 'PATCH', 'HEAD', 'DELETE'])(
    'is only read, also if %s is declared, and then its host is asked',
    async (method) => {
      const { settle, probe, asked } = open(site({}))
      const body = method.startsWith('P') ? { bodyType: 'json', body: {} } : {}
      const bazaar = bazaarOf({ type: 'http', method, ...body })
      await settle({ bazaar, payTo: squatter })
      await settle({ bazaar, url: `${url}?token=secret` })
      await probe()
      expect(asked).toEqual([url, statement])
    },
  )

  it('with a route template is never moved by one path below it, but by its host', async () => {
    let files: Site = { 'https://weather.example/users/mallory/score': naming(squatter) }
    const { settle, list, probe, asked, clock } = open((asks) => site(files)(asks))
    const bazaar = template('/users/:id/score')
    await settle({ url: 'https://weather.example/users/1/score', bazaar })
    const theirs = { url: 'https://weather.example/users/mallory/score', bazaar, payTo: squatter }
    expect(await settle(theirs)).toMatchObject(pending)
    await probe()
    expect(await settle(theirs)).toMatchObject({ rule: 'ownership_unproven' })
    // The URL of the template itself, without `routeTemplate`, is the same listing.
    const literal = { url: 'https://weather.example/users/:id/score', payTo: squatter }
    expect(await settle(literal)).toMatchObject({ rule: 'ownership_unproven' })
    expect((await list()).items).toMatchObject([{ accepts: [{ payTo: merchant }] }])
    files = { [statement]: stating({ accepts: [{ network: 'base-sepolia', payTo: squatter }] }) }
    await clock.advance(hourMs)
    await settle(theirs)
    await probe()
    expect(await settle(theirs)).toMatchObject({ listing: 'listed' })
    expect((await list()).items).toMatchObject([{ accepts: [{ payTo: squatter }] }])
    expect(asked).toEqual([statement, statement])
  })

  it('of an MCP tool moves to the payee that the host states for this tool', async () => {
    const tool = (toolName: string) => bazaarOf({ type: 'mcp', toolName, inputSchema: {} })
    const item = (toolName: string, payTo: string) => ({
      resource: 'https://mcp.example/',
      accepts: [{ network: 'base-sepolia', payTo }],
      extensions: { bazaar: tool(toolName) },
    })
    const { settle, list, probe, asked } = open(
      site({
        'https://mcp.example/': naming(squatter),
        'https://mcp.example/.well-known/x402.json': stating({
          items: [item('other', squatter), item('x', merchant)],
          accepts: [{ network: 'base-sepolia', payTo: squatter }],
        }),
      }),
    )
    const at = { url: 'https://mcp.example/', bazaar: tool('x') }
    await settle({ ...at, payTo: squatter })
    expect(await settle(at)).toMatchObject(pending)
    await probe()
    expect(await settle(at)).toMatchObject({ listing: 'listed' })
    expect((await list()).items).toMatchObject([{ accepts: [{ payTo: merchant }] }])
    expect(await settle({ ...at, payTo: squatter })).toMatchObject(refused)
    expect(asked).toEqual(['https://mcp.example/.well-known/x402.json'])
  })

  it('of a caller with one host is asked before the many of another one', async () => {
    const { settle, probe, asked } = open(() => naming(merchant))
    const hostile = { requester: { name: 'hostile', site: null } }
    for (let index = 0; index < 24; index += 1) {
      await settle({ ...hostile, url: `https://h${index}.example/` })
      await settle({ ...hostile, url: `https://h${index}.example/`, payTo: squatter })
    }
    await settle({ payTo: squatter })
    await settle({ requester: { name: 'shop', site: null } })
    await probe()
    expect(asked).toHaveLength(16)
    expect(asked).toContain(url)
  })

  it('of a shop is asked in its turn, though a stranger challenges many listings of its host', async () => {
    const { settle, probe, asked } = open(() => naming(merchant))
    const hostile = { requester: { name: 'hostile', site: null } }
    for (let index = 0; index < 6; index += 1) {
      const at = { ...hostile, url: `https://weather.example/${index}` }
      await settle(at)
      await settle({ ...at, payTo: squatter })
    }
    await settle({ payTo: squatter })
    await settle({ requester: { name: 'shop', site: null } })
    await probe()
    await probe()
    expect(asked).toContain(url)
  })

  it('is recorded for its shop, though a stranger has as many challenges of it as one may have', async () => {
    const { settle, probe } = open(() => naming(merchant))
    const hostile = { requester: { name: 'hostile', site: null } }
    await settle({ ...hostile, payTo: squatter })
    for (let index = 0; index < 9; index += 1) {
      await settle({ ...hostile, payTo: `0x${String(index).padStart(40, '1')}` })
    }
    const shop = { requester: { name: 'shop', site: null } }
    expect(await settle(shop)).toMatchObject(pending)
    expect(await countWaiting()).toBe(9)
    await probe()
    expect(await settle(shop)).toMatchObject({ listing: 'listed' })
  })

  it('is answered beside a settlement that is being recorded, without a deadlock', async () => {
    const { settle, list, probe } = open(() => wanting(merchant, 'said'))
    await settle({ details: { description: 'ours' } })
    await settle({ details: { description: 'theirs' } })
    const recording = await pool.connect()
    const probing = recording
      .query('begin')
      .then(() => recording.query('select from discovery_resources for update'))
      .then(probe)
      .catch((error: unknown) => error)
    try {
      await pollUntil(async () => {
        const { rowCount } = await pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return rowCount === 1
      }, 'the answer to wait for the settlement')
      await recording.query('update discovery_challenges set due_at = due_at')
      await recording.query('commit')
    } finally {
      recording.release()
    }
    expect(await probing).toBeUndefined()
    await settle({ details: { description: 'theirs' } })
    expect((await list()).items).toMatchObject([{ description: 'said' }])
  })

  it('has at most 64 waiting challenges of one caller', async () => {
    const { settle } = open(() => naming(merchant))
    const hostile = { requester: { name: 'hostile', site: null } }
    for (let index = 0; index < 70; index += 1) {
      await settle({ ...hostile, url: `https://h${index}.example/` })
      await settle({ ...hostile, url: `https://h${index}.example/`, payTo: squatter })
    }
    expect(await countWaiting()).toBe(64)
    await settle({ payTo: squatter })
    await settle({ requester: { name: 'shop', site: null } })
    expect(await countWaiting()).toBe(65)
  })

  it('stays with the first payee where probes are off', async () => {
    const { settle } = createTestDiscovery(createDiscoveryCatalogue(pool))
    await settle({ payTo: squatter })
    expect(await settle()).toMatchObject(refused)
    expect(await countWaiting()).toBe(0)
  })

  it('has at most 8 waiting challenges of one caller, also when they come at once', async () => {
    const { settle, probe, asked } = open(() => naming(merchant))
    await settle({ payTo: squatter })
    const recipients = Array.from({ length: 20 }, (_, index) => `0x${String(index).padStart(40, '1')}`)
    const answers = await Promise.all(recipients.map((payTo) => settle({ payTo })))
    for (const answer of answers) expect(answer).toMatchObject(pending)
    expect(await countWaiting()).toBe(8)
    await probe()
    // One answer holds for all that wait for it.
    expect(await countWaiting()).toBe(0)
    expect(asked).toHaveLength(1)
  })

  it.each([
    ['that names its payee', naming(merchant), refused],
    ['that is unusable', naming(), { status: 'rejected', rule: 'ownership_unproven' }],
  ])('is asked once an hour, however many claim it, by an answer %s', async (_case, answer, expected) => {
    const { settle, probe, asked, clock } = open(() => answer)
    await settle()
    await settle({ payTo: squatter })
    await probe()
    for (const digit of ['1', '2', '3']) {
      expect(await settle({ payTo: `0x${digit.repeat(40)}` })).toMatchObject(expected)
      await probe()
    }
    expect(asked.filter((each) => each === url)).toHaveLength(1)
    await clock.advance(hourMs)
    expect(await settle({ payTo: `0x${'1'.repeat(40)}` })).toMatchObject(pending)
    await probe()
    expect(asked.filter((each) => each === url)).toHaveLength(2)
  })

  it('is asked once by two instances at the same time', async () => {
    const { settle, probe, asked } = open(() => naming(merchant))
    const theirs = open(() => naming(merchant))
    await settle({ payTo: squatter })
    await settle()
    await Promise.all([probe(), theirs.probe(), probe(), theirs.probe()])
    expect([...asked, ...theirs.asked]).toEqual([url])
  })

  it('waits while its host is asked for another', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { settle, probe, asked } = open(async (target) => {
      if (target.endsWith('/a')) await held
      return naming(merchant)
    })
    const urls = ['https://one.example/a', 'https://one.example/b', 'https://two.example/']
    for (const each of urls) await settle({ url: each, payTo: squatter })
    await settle({ url: 'https://one.example/a' })
    const first = probe()
    await pollUntil(() => asked.length === 1, 'the first request')
    await settle({ url: 'https://one.example/b' })
    await settle({ url: 'https://two.example/' })
    await probe()
    expect(asked).toEqual(['https://one.example/a', 'https://two.example/'])
    release()
    await first
    await probe()
    expect(asked).toHaveLength(3)
  })

  it('asks each host once a round', async () => {
    const { settle, probe, asked } = open(() => naming(merchant))
    const urls = ['https://one.example/a', 'https://one.example/b', 'https://two.example/']
    for (const each of urls) await settle({ url: each, payTo: squatter })
    for (const each of urls) await settle({ url: each })
    await probe()
    expect(asked.map((target) => new URL(target).host).toSorted()).toEqual(['one.example', 'two.example'])
    await probe()
    expect(asked.toSorted()).toEqual(urls)
  })

  it('moves again only by a new answer', async () => {
    let named = merchant
    const { settle, list, probe, clock } = open(() => naming(named))
    await settle({ payTo: squatter })
    await settle()
    await probe()
    await settle()
    named = squatter
    await clock.advance(hourMs)
    await settle({ payTo: squatter })
    await probe()
    expect(await settle({ payTo: squatter })).toMatchObject({ listing: 'listed' })
    expect(await settle()).toMatchObject(refused)
    await clock.advance(hourMs)
    expect(await settle()).toMatchObject(pending)
    expect((await list()).items).toMatchObject([{ accepts: [{ payTo: squatter }] }])
  })

  it('is asked again when an instance ended during the probe', async () => {
    const stopping = new AbortController()
    const { settle, jobs, probe, clock, asked } = open(async () => {
      if (stopping.signal.aborted) return naming(merchant)
      stopping.abort(new Error('closing'))
      throw new Error('closing')
    })
    await settle({ payTo: squatter })
    await settle()
    await jobs.probeOwners.run(stopping.signal)
    await probe()
    expect(asked).toHaveLength(1)
    await clock.advance(60_000)
    await probe()
    expect(asked).toHaveLength(2)
    expect(await settle()).toMatchObject({ listing: 'listed' })
  })

  it('forgets challenges after a week', async () => {
    const { settle, probe, clock, jobs } = open(() => naming(merchant))
    await settle({ payTo: squatter })
    await settle()
    await probe()
    await clock.advance(7 * 24 * hourMs + 1)
    await jobs.unlistStaleResources.run(new AbortController().signal)
    expect((await pool.query('select from discovery_challenges')).rowCount).toBe(0)
    expect(await settle()).toMatchObject(pending)
  })

  it('does not move back by an answer from before it moved', async () => {
    let answer = wanting(merchant, 'ours')
    const { settle, list, probe, clock } = open(() => answer)
    await settle({ details: { description: 'ours' } })
    await settle({ details: { description: 'another' } })
    await probe()
    answer = wanting(squatter, 'sold')
    await clock.advance(hourMs)
    await settle({ payTo: squatter })
    await probe()
    expect(await settle({ payTo: squatter })).toMatchObject({ listing: 'listed' })
    expect(await settle()).toMatchObject(refused)
    expect((await list()).items).toMatchObject([{ description: 'sold', accepts: [{ payTo: squatter }] }])
  })

  it('that moves has text and price of its own answer, not of the stranger who pays the recipient it names', async () => {
    const { settle, list, probe } = open(() => wanting(merchant, 'ours', '20000'))
    await settle({ payTo: squatter })
    const stranger = { caller: 'b', amount: 1n, details: { description: 'theirs' } }
    expect(await settle(stranger)).toMatchObject(pending)
    await probe()
    expect(await settle(stranger)).toMatchObject({ listing: 'listed' })
    expect(await settle({ ...stranger, details: { description: 'theirs again' } })).toMatchObject({
      listing: 'listed',
    })
    expect((await list()).items).toMatchObject([
      { description: 'ours', accepts: [{ payTo: merchant, amount: '20000' }] },
    ])
  })

  describe('and its text', () => {
    const ours: SettlementOptions = { details: { description: 'ours' } }
    const theirs: SettlementOptions = { amount: 1n, details: { description: 'theirs' } }

    it('without an account is not changed by a stranger who pays its merchant', async () => {
      const { settle, list, probe } = open(site({}))
      await settle(ours)
      for (const caller of ['anonymous', 'b']) {
        await settle({ ...theirs, caller })
        await probe()
        expect(await settle({ ...theirs, caller })).toMatchObject({ listing: 'listed' })
      }
      expect((await list()).items).toMatchObject([
        { description: 'ours', accepts: [{ amount: '10000' }], distinctPayers: 5 },
      ])
      expect((await list({ q: 'theirs' })).items).toEqual([])
    })

    it.each(['anonymous', 'b'])(
      'is that of its own 402 answer, though %s settled first with another',
      async (caller) => {
        const { settle, list, probe, asked } = open(() => wanting(merchant, 'said', '20000'))
        await settle({ ...theirs, caller })
        await settle(ours)
        expect((await list()).items).toMatchObject([{ description: 'theirs' }])
        await probe()
        await settle(ours)
        expect((await list()).items).toMatchObject([{ description: 'said' }])
        expect((await list({ q: 'said' })).items).toHaveLength(1)
        await settle({ ...theirs, caller })
        expect((await list()).items).toMatchObject([{ description: 'said' }])
        expect(asked).toEqual([url])
      },
    )

    it('without an account has the price of its own 402 answer, and terms that it offers', async () => {
      const { settle, list, probe } = open(() => wanting(merchant, 'said', '20000', ['0xother']))
      await settle(ours)
      await settle(theirs)
      await probe()
      await settle({ ...theirs, asset: '0xother' })
      await settle({ ...theirs, asset: '0xinvented' })
      const { items } = await list()
      expect(items[0]?.accepts.map(({ asset, amount }) => [asset, amount])).toEqual([
        ['0xother', '20000'],
        ['0x036CbD53842c5426634e7929541eC2318f3dCF7e', '20000'],
      ])
    })

    it('is asked for once an hour, and follows what the resource says then', async () => {
      let said = 'first'
      const { settle, list, probe, asked, clock } = open(() => wanting(merchant, said))
      await settle(ours)
      for (let time = 0; time < 3; time += 1) {
        await settle(theirs)
        await probe()
      }
      expect(asked).toHaveLength(1)
      said = 'second'
      await clock.advance(hourMs)
      await settle(theirs)
      await probe()
      await settle(theirs)
      expect(asked).toHaveLength(2)
      expect((await list()).items).toMatchObject([{ description: 'second' }])
    })

    it('is not asked for while settlements agree with it, or its own account changes it', async () => {
      const { settle, list, probe, asked } = open(() => wanting(merchant, 'said'))
      await settle(ours)
      await settle(ours)
      await settle({ ...ours, caller: 'a', url: 'https://a.example/' })
      await settle({ ...theirs, caller: 'a', url: 'https://a.example/' })
      await probe()
      expect(asked).toEqual([])
      expect((await list({ q: 'theirs' })).items).toMatchObject([{ resource: 'https://a.example/' }])
    })

    it('is not taken from an answer that wants others paid, or describes another resource', async () => {
      let answer = wanting('0x00000000000000000000000000000000000000bb', 'said')
      const { settle, list, probe, clock } = open(() => answer)
      const next = async () => {
        await settle(theirs)
        await probe()
        await settle(theirs)
        await clock.advance(hourMs)
      }
      await settle(ours)
      await next()
      answer = wanting(merchant, 'said', '10000', [], template('/:anything'))
      await next()
      answer = wanting(merchant, 'said', '10000', [], bazaarOf({ type: 'http', method: 'BREW' }))
      await next()
      expect((await list()).items).toMatchObject([{ description: 'ours' }])
    })

    it('is what it states though its terms are incomplete, until it states none', async () => {
      let answer = describing('said')
      const { settle, list, probe, clock } = open(() => answer)
      await settle({ ...ours, caller: 'a' })
      await settle(theirs)
      await probe()
      await settle({ ...ours, caller: 'a' })
      expect((await list()).items).toMatchObject([{ description: 'said', accepts: [{ amount: '10000' }] }])
      answer = naming(merchant)
      await clock.advance(hourMs)
      await settle(theirs)
      await probe()
      await settle({ ...ours, caller: 'a' })
      expect((await list()).items).toMatchObject([{ description: 'ours' }])
    })

    it('with a route template is that of the statement of its host', async () => {
      const bazaar = template('/users/:id')
      const said = { description: 'said \0', resource: 'https://weather.example/users/:id' }
      const { settle, list, probe, asked } = open(
        site({
          'https://weather.example/users/1': wanting(merchant, 'of one path'),
          [statement]: stating({ items: [{ ...said, accepts: [offer(merchant)], extensions: { bazaar } }] }),
        }),
      )
      const at = { url: 'https://weather.example/users/1', bazaar }
      await settle({ ...ours, ...at })
      await settle({ ...theirs, ...at })
      await probe()
      await settle({ ...theirs, ...at })
      expect((await list()).items).toMatchObject([{ description: 'said', accepts: [{ amount: '10000' }] }])
      expect(asked).toEqual([statement])
    })

    it('stays as it was first where probes are off', async () => {
      const { settle, list } = createTestDiscovery(createDiscoveryCatalogue(pool))
      await settle(ours)
      await settle(theirs)
      expect((await list()).items).toMatchObject([{ description: 'ours', accepts: [{ amount: '10000' }] }])
      expect(await countWaiting()).toBe(0)
    })
  })
})

const offer = (payTo: string, amount = '10000', asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e') => ({
  scheme: 'exact',
  network: 'eip155:84532',
  payTo,
  amount,
  asset,
  maxTimeoutSeconds: 60,
  extra: { name: 'USDC' },
})

/** A 402 answer with a declaration, whose terms name the recipient alone. */
const describing = (description: string): ProbeResponse => ({
  status: 402,
  paymentRequired: null,
  body: JSON.stringify({
    x402Version: 2,
    resource: { url, description },
    accepts: [{ network: 'base-sepolia', payTo: merchant }],
    extensions: { bazaar: bazaarOf() },
  }),
  error: null,
})

/** A 402 answer with a declaration. */
const wanting = (
  payTo: string,
  description: string,
  amount = '10000',
  assets: readonly string[] = [],
  bazaar: object = bazaarOf(),
): ProbeResponse => {
  const required = {
    x402Version: 2,
    resource: { url: 'http://localhost/behind-a-proxy', description },
    accepts: [offer(payTo, amount), ...assets.map((asset) => offer(payTo, amount, asset))],
    extensions: { bazaar },
  }
  const paymentRequired = Buffer.from(JSON.stringify(required)).toString('base64')
  return { status: 402, paymentRequired, body: '', error: null }
}
