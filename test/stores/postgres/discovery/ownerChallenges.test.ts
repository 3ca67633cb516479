import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProbeResponse, ProbeTarget } from '../../../../src/ports/resourceProbe.js'
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
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'

const squatter = '0x00000000000000000000000000000000000000AA'
const url = 'https://weather.example/v1/forecast'
const hourMs = 3_600_000

const naming = (...recipients: readonly string[]): ProbeResponse => ({
  status: 402,
  paymentRequired: null,
  body: JSON.stringify({ accepts: recipients.map((payTo) => ({ network: 'base-sepolia', payTo })) }),
  error: null,
})
const pending = { status: 'processing', listing: 'pending', rule: 'ownership_unproven' }
const refused = { status: 'rejected', rule: 'claimed_by_another_payee' }
const template = (routeTemplate: string) => ({ ...bazaarOf(), routeTemplate })

describe('a listing that two payees claim', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())
  beforeEach(() => clearDiscovery(database.pool()))

  const open = (respond: (target: ProbeTarget) => ProbeResponse | Promise<ProbeResponse>) => {
    const asked: ProbeTarget[] = []
    const discovery = createTestDiscovery(createDiscoveryCatalogue(database.pool()), {
      challenges: createOwnerChallenges(database.pool()),
      probe: {
        ask: async (target) => {
          asked.push(target)
          return await respond(target)
        },
      },
    })
    const probe = () => discovery.jobs.probeOwners.run(new AbortController().signal)
    return { ...discovery, asked, probe }
  }
  const countWaiting = async () =>
    (await database.pool().query(`select from discovery_challenges where state = 'waiting'`)).rowCount

  it('moves to the recipient that the resource names, without the payers and terms of the first', async () => {
    const { settle, list, probe, asked } = open(() => naming(merchant))
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
    expect(asked).toEqual([{ url, method: 'GET' }])
    expect(await settle({ caller: 's', payTo: squatter })).toMatchObject(pending)
    await probe()
    expect(await settle({ caller: 's', payTo: squatter })).toMatchObject(refused)
  })

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
    ['POST', 'POST'],
    ['PUT', 'PUT'],
    ['HEAD', 'GET'],
    ['DELETE', 'GET'],
  ])('is asked with the declared method: %s with %s', async (method, sent) => {
    const { settle, probe, asked } = open(() => naming(merchant))
    const body = method.startsWith('P') ? { bodyType: 'json', body: {} } : {}
    const bazaar = bazaarOf({ type: 'http', method, ...body })
    await settle({ payTo: squatter })
    await settle({ bazaar, url: `${url}?token=secret` })
    await probe()
    expect(asked).toEqual([{ url, method: sent }])
  })

  it('with a route template is asked at the URL of the settlement, if it fits', async () => {
    const { settle, probe, asked } = open(() => naming(merchant))
    const bazaar = template('/users/:id/score')
    const at = (path: string) => settle({ url: `https://weather.example${path}`, bazaar })
    await settle({ url: 'https://weather.example/users/1/score', bazaar, payTo: squatter })
    for (const path of ['/evil', '/users/1/other', '/users/1/score/more']) {
      expect(await at(path)).toMatchObject({ status: 'rejected', rule: 'ownership_unproven' })
    }
    expect(await at('/users/7/score')).toMatchObject(pending)
    await probe()
    expect(asked).toEqual([{ url: 'https://weather.example/users/7/score', method: 'GET' }])
    expect(await at('/users/7/score')).toMatchObject({ listing: 'listed' })
  })

  it('of an MCP tool stays with the first payee', async () => {
    const { settle } = open(() => naming(merchant))
    const bazaar = bazaarOf({ type: 'mcp', toolName: 'x', inputSchema: {} })
    await settle({ bazaar, payTo: squatter })
    expect(await settle({ bazaar })).toMatchObject({ ...refused, reason: expect.stringContaining('MCP') })
  })

  it('stays with the first payee where probes are off', async () => {
    const { settle } = createTestDiscovery(createDiscoveryCatalogue(database.pool()))
    await settle({ payTo: squatter })
    expect(await settle()).toMatchObject(refused)
    expect(await countWaiting()).toBe(0)
  })

  it('has at most 8 waiting challenges, also when they come at once', async () => {
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

  it('is asked once by two instances at the same time', async () => {
    const { settle, probe, asked } = open(() => naming(merchant))
    const theirs = open(() => naming(merchant))
    await settle({ payTo: squatter })
    await settle()
    await Promise.all([probe(), theirs.probe(), probe(), theirs.probe()])
    expect([...asked, ...theirs.asked]).toEqual([{ url, method: 'GET' }])
  })

  it('waits while its host is asked for another', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const { settle, probe, asked } = open(async (target) => {
      if (target.url.endsWith('/a')) await held
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
    expect(asked.map((target) => target.url)).toEqual(['https://one.example/a', 'https://two.example/'])
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
    expect(asked.map((target) => new URL(target.url).host).toSorted()).toEqual(['one.example', 'two.example'])
    await probe()
    expect(asked.map((target) => target.url).toSorted()).toEqual(urls)
  })

  it('moves again only by a new answer', async () => {
    let named = merchant
    const { settle, list, probe } = open(() => naming(named))
    await settle({ payTo: squatter })
    await settle()
    await probe()
    await settle()
    named = squatter
    await settle({ payTo: squatter })
    await probe()
    expect(await settle({ payTo: squatter })).toMatchObject({ listing: 'listed' })
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
    expect((await database.pool().query('select from discovery_challenges')).rowCount).toBe(0)
    expect(await settle()).toMatchObject(pending)
  })
})
