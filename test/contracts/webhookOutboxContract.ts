import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LeasedDelivery, LeaseRequest, WebhookOutbox } from '../../src/ports/webhookOutbox.js'

interface OutboxHarness {
  readonly outbox: WebhookOutbox
  /** The same outbox as another instance has it, where instances can share one. */
  readonly theirs?: WebhookOutbox
  /** Writes an event for an account, newer than all before; returns its id. */
  write(accountId: string): Promise<string>
  /** Advances the outbox's clock. */
  pass(milliseconds: number): Promise<void>
  close(): Promise<void>
}

const url = 'https://a.example/hook'
const sealedSecret = Buffer.from('sealed-1')
const delivered = { state: 'delivered', status: 204, error: null } as const
const leaseMs = 60_000

export const describeWebhookOutbox = (name: string, open: () => Promise<OutboxHarness>): void => {
  describe(name, () => {
    let harness: OutboxHarness
    let outbox: WebhookOutbox
    let theirs: WebhookOutbox
    beforeEach(async () => {
      harness = await open()
      outbox = harness.outbox
      theirs = harness.theirs ?? outbox
      for (const account of ['a', 'b']) await outbox.setEndpoint(account, { url, sealedSecret })
    })
    afterEach(() => harness.close())

    const write = async (count: number, account = 'a'): Promise<readonly string[]> => {
      const ids: string[] = []
      for (let event = 0; event < count; event += 1) ids.push(await harness.write(account))
      return ids
    }
    const lease = (changes: Partial<LeaseRequest> = {}, by = outbox) =>
      by.leaseDue({ limit: 100, limitPerAccount: 100, except: [], leaseMs, ...changes })
    const leaseOne = async (by = outbox): Promise<LeasedDelivery> => {
      const [leased] = await lease({}, by)
      if (leased === undefined) throw new Error('Nothing is due')
      return leased
    }
    const newest = async (account = 'a') => (await outbox.list(account, { limit: 1 }))[0]
    const idsOf = (deliveries: readonly { readonly id: string }[]) => deliveries.map(({ id }) => id)

    it('enqueues events of any noun, only for accounts with an active webhook', async () => {
      const settlementId = randomUUID()
      await outbox.enqueue({ accountId: 'a', type: 'stream.closed', data: { id: 's', amount: '7' } })
      await outbox.enqueue({ accountId: 'a', type: 'settlement.refunded', data: {}, settlementId })
      await outbox.enqueue({ accountId: 'c', type: 'stream.closed', data: {} })
      const leased = await lease()
      expect(leased.map(({ accountId, type, data }) => ({ accountId, type, data }))).toEqual([
        { accountId: 'a', type: 'stream.closed', data: { id: 's', amount: '7' } },
        { accountId: 'a', type: 'settlement.refunded', data: {} },
      ])
      for (const each of leased) {
        await outbox.finish(each, { state: 'failed', status: 410, error: null, isGone: true })
      }
      await outbox.enqueue({ accountId: 'a', type: 'stream.closed', data: {} })
      expect(await outbox.list('a', { limit: 9 })).toHaveLength(2)
    })

    it('leases the oldest first, with URL and secrets, each once', async () => {
      const ids = await write(3)
      const leased = await lease({ limitPerAccount: 2 })
      expect(idsOf(leased)).toEqual(ids.slice(0, 2))
      expect(leased[0]?.endpoint).toEqual({
        accountId: 'a',
        url,
        sealedSecrets: [sealedSecret],
        isGone: false,
      })
      expect(idsOf(await lease())).toEqual(ids.slice(2))
      expect(await lease()).toEqual([])
    })

    it('limits deliveries per account, and skips excluded accounts', async () => {
      await write(9, 'a')
      const [own] = await write(1, 'b')
      const leased = await lease({ limitPerAccount: 4 })
      expect(leased.filter(({ accountId }) => accountId === 'a')).toHaveLength(4)
      expect(idsOf(leased)).toContain(own)
      expect(await lease({ except: ['a'] })).toEqual([])
      expect(await lease({ limit: 3 })).toHaveLength(3)
    })

    it('leases one delivery of each account before the second of any', async () => {
      await write(5, 'a')
      const [own] = await write(1, 'b')
      const leased = await lease({ limit: 3 })
      expect(leased.map(({ accountId }) => accountId)).toEqual(['a', 'b', 'a'])
      expect(leased[1]?.id).toBe(own)
    })

    it('gives the accounts turns from the one after `after` on', async () => {
      const accounts = ['a', 'b', 'c', 'd']
      for (const account of accounts) await outbox.setEndpoint(account, { url, sealedSecret })
      for (const account of accounts) await write(2, account)
      const drawn: string[] = []
      for (let round = 0; round < 4; round += 1) {
        const after = drawn.at(-1)
        const leased = await lease({ limit: 2, ...(after === undefined ? {} : { after }) })
        drawn.push(...leased.map(({ accountId }) => accountId))
      }
      expect(drawn).toEqual([...accounts, ...accounts])
    })

    it('leases only from the given accounts', async () => {
      await write(2, 'a')
      const [own] = await write(1, 'b')
      expect(idsOf(await lease({ only: ['b', 'unknown'] }))).toEqual([own])
      expect(await lease({ only: ['a'], except: ['a'] })).toEqual([])
      expect(await lease({ only: [] })).toEqual([])
    })

    it('leases an unfinished delivery again only after its lease expired', async () => {
      const ids = await write(1)
      await lease({}, theirs)
      await harness.pass(leaseMs - 1_000)
      expect(await lease()).toEqual([])
      await harness.pass(1_000)
      expect(idsOf(await lease())).toEqual(ids)
    })

    it('ignores finish and returnToQueue after another instance took the lease', async () => {
      await write(1)
      const late = await leaseOne(theirs)
      await harness.pass(leaseMs)
      const leased = await leaseOne()
      await theirs.finish(late, { state: 'failed', status: 500, error: null, isGone: false })
      await theirs.returnToQueue(late)
      expect(await newest()).toMatchObject({ state: 'waiting', attempts: 0 })
      expect(await lease()).toEqual([])
      await outbox.finish(leased, delivered)
      expect(await newest()).toMatchObject({ state: 'delivered', attempts: 1, dueAt: null, lastStatus: 204 })
    })

    it('makes a failed delivery due again after its delay', async () => {
      await write(1)
      const outcome = { state: 'waiting', status: null, error: 'No answer', retryInMs: 300_000 } as const
      await outbox.finish(await leaseOne(), outcome)
      expect(await newest()).toMatchObject({
        attempts: 1,
        lastError: 'No answer',
        lastAttemptAt: expect.any(Date),
      })
      await harness.pass(299_000)
      expect(await lease()).toEqual([])
      await harness.pass(1_000)
      expect(await leaseOne()).toMatchObject({ attempts: 1 })
    })

    it('makes a returned delivery due at once, without counting an attempt', async () => {
      await write(1)
      await outbox.returnToQueue(await leaseOne())
      expect(await leaseOne(theirs)).toMatchObject({ attempts: 0 })
    })

    it('fails all waiting deliveries of a receiver that is gone, and leases none', async () => {
      await write(3, 'a')
      const [other] = await write(1, 'b')
      const [leased] = await lease({ limitPerAccount: 1, except: ['b'] })
      if (leased === undefined) throw new Error('Nothing is due')
      await outbox.finish(leased, { state: 'failed', status: 410, error: null, isGone: true })
      const states = (await outbox.list('a', { limit: 9 })).map(({ state, dueAt }) => ({ state, dueAt }))
      expect(states).toEqual(Array(3).fill({ state: 'failed', dueAt: null }))
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: true })
      expect(idsOf(await lease())).toEqual([other])
      await outbox.setEndpoint('a', { url, sealedSecret })
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: false })
    })

    it('marks a receiver as gone even if the lease of the attempt was lost', async () => {
      await write(2)
      const [late] = await lease()
      if (late === undefined) throw new Error('Nothing is due')
      await harness.pass(leaseMs)
      await lease()
      await outbox.finish(late, { state: 'failed', status: 410, error: null, isGone: true })
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: true })
      expect((await outbox.list('a', { limit: 9 })).map(({ state }) => state)).toEqual(['failed', 'failed'])
    })

    it('does not apply gone to a new URL', async () => {
      await write(1)
      const leased = await leaseOne()
      await outbox.setEndpoint('a', { url: 'https://new.example/', sealedSecret })
      await outbox.finish(leased, { state: 'failed', status: 410, error: null, isGone: true })
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: false })
    })

    it('has both secrets after a rotation, and only the new one after the overlap', async () => {
      const next = Buffer.from('sealed-2')
      expect(await outbox.rotateSecret('a', next, 60_000)).toBe(true)
      expect((await outbox.findEndpoint('a'))?.sealedSecrets).toEqual([next, sealedSecret])
      await harness.pass(60_000)
      expect((await outbox.findEndpoint('a'))?.sealedSecrets).toEqual([next])
      expect((await outbox.findEndpoint('b'))?.sealedSecrets).toEqual([sealedSecret])
      expect(await outbox.rotateSecret('nobody', next, 1)).toBe(false)
    })

    it('drops all secrets when a URL is set', async () => {
      await outbox.rotateSecret('a', Buffer.from('sealed-2'), 60_000)
      await outbox.setEndpoint('a', { url, sealedSecret })
      expect((await outbox.findEndpoint('a'))?.sealedSecrets).toEqual([sealedSecret])
    })

    it('removes an endpoint and only the waiting deliveries of its account', async () => {
      await write(1, 'a')
      await write(1, 'b')
      await outbox.setEndpoint('a', null)
      expect(await outbox.findEndpoint('a')).toBeNull()
      expect(await newest('a')).toMatchObject({ state: 'failed', dueAt: null })
      expect(await newest('b')).toMatchObject({ state: 'waiting' })
    })

    it('pages through the deliveries of an account, newest first, and exposes none to another', async () => {
      expect(await outbox.list('b', { limit: 9 })).toEqual([])
      await write(1, 'b')
      const ids = (await write(5, 'a')).toReversed()
      expect(idsOf(await outbox.list('a', { limit: 2 }))).toEqual(ids.slice(0, 2))
      expect(idsOf(await outbox.list('a', { limit: 9, before: ids[1] }))).toEqual(ids.slice(2))
      expect(await outbox.list('b', { limit: 9, before: ids[0] })).toEqual([])
      expect(await outbox.redeliver('b', ids[0] ?? '')).toBeNull()
      for (const unknown of [randomUUID(), 'no id']) expect(await outbox.redeliver('a', unknown)).toBeNull()
    })

    it('redelivers an ended delivery with a full set of attempts', async () => {
      const [id = ''] = await write(1)
      await outbox.finish(await leaseOne(), { state: 'failed', status: 500, error: null, isGone: false })
      expect(await lease()).toEqual([])
      expect(await outbox.redeliver('a', id)).toMatchObject({
        id,
        state: 'waiting',
        attempts: 0,
        lastStatus: 500,
      })
      expect(await leaseOne()).toMatchObject({ id, attempts: 0 })
    })

    it('does not lease a delivery that is in flight after redeliver', async () => {
      const [id = ''] = await write(1)
      const leased = await leaseOne()
      await outbox.redeliver('a', id)
      expect(await lease({}, theirs)).toEqual([])
      await outbox.finish(leased, delivered)
      expect(await newest()).toMatchObject({ state: 'delivered' })
    })
  })
}
