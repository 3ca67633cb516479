import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { LeasedDelivery, TakeRequest, WebhookOutbox } from '../../src/ports/webhookOutbox.js'

/** An empty outbox under test. */
export interface OutboxHarness {
  readonly outbox: WebhookOutbox
  /** Writes an event for an account, later than those before, and answers its id. */
  write(accountId: string): Promise<string>
  /** Lets time pass for the outbox. */
  pass(milliseconds: number): Promise<void>
  close(): Promise<void>
}

const url = 'https://a.example/hook'
const sealedSecret = Buffer.from('sealed-1')
const delivered = { state: 'delivered', status: 204, error: null } as const
const leaseMs = 30_000

/** The suite that every implementation of the port passes; what only a shared database can do is tested there. */
export const describeWebhookOutbox = (name: string, open: () => Promise<OutboxHarness>): void => {
  describe(name, () => {
    let harness: OutboxHarness
    let outbox: WebhookOutbox
    beforeEach(async () => {
      harness = await open()
      outbox = harness.outbox
      for (const account of ['a', 'b']) await outbox.setEndpoint(account, { url, sealedSecret })
    })
    afterEach(() => harness.close())

    const write = async (count: number, account = 'a'): Promise<readonly string[]> => {
      const ids: string[] = []
      for (let event = 0; event < count; event += 1) ids.push(await harness.write(account))
      return ids
    }
    const take = (changes: Partial<TakeRequest> = {}) =>
      outbox.takeDue({ limit: 100, limitPerAccount: 100, except: [], leaseMs, ...changes })
    const takeOne = async (): Promise<LeasedDelivery> => {
      const [taken] = await take()
      if (taken === undefined) throw new Error('Nothing is due')
      return taken
    }
    const look = async (account = 'a') => (await outbox.list(account, { limit: 1 }))[0]
    const idsOf = (deliveries: readonly { readonly id: string }[]) => deliveries.map(({ id }) => id)

    it('takes an event of any noun, for accounts whose webhook takes events and for no others', async () => {
      const settlementId = randomUUID()
      await outbox.enqueue({ accountId: 'a', type: 'stream.closed', data: { id: 's', amount: '7' } })
      await outbox.enqueue({ accountId: 'a', type: 'settlement.refunded', data: {}, settlementId })
      await outbox.enqueue({ accountId: 'c', type: 'stream.closed', data: {} })
      const taken = await take()
      expect(taken.map(({ accountId, type, data }) => ({ accountId, type, data }))).toEqual([
        { accountId: 'a', type: 'stream.closed', data: { id: 's', amount: '7' } },
        { accountId: 'a', type: 'settlement.refunded', data: {} },
      ])
      for (const each of taken) {
        await outbox.finish(each, { state: 'failed', status: 410, error: null, isGone: true })
      }
      await outbox.enqueue({ accountId: 'a', type: 'stream.closed', data: {} })
      expect(await outbox.list('a', { limit: 9 })).toHaveLength(2)
    })

    it('gives the oldest first, with where to and what is signed with, and nothing twice', async () => {
      const ids = await write(3)
      const taken = await take({ limitPerAccount: 2 })
      expect(idsOf(taken)).toEqual(ids.slice(0, 2))
      expect(taken[0]?.endpoint).toEqual({
        accountId: 'a',
        url,
        sealedSecrets: [sealedSecret],
        isGone: false,
      })
      expect(idsOf(await take())).toEqual(ids.slice(2))
      expect(await take()).toEqual([])
    })

    it('gives no account more than its share, and nothing of those who are busy', async () => {
      await write(9, 'a')
      const [own] = await write(1, 'b')
      const taken = await take({ limitPerAccount: 4 })
      expect(taken.filter(({ accountId }) => accountId === 'a')).toHaveLength(4)
      expect(idsOf(taken)).toContain(own)
      expect(await take({ except: ['a'] })).toEqual([])
      expect(await take({ limit: 3 })).toHaveLength(3)
    })

    it('gives again what was taken and not finished, when its lease ends and not before', async () => {
      const ids = await write(1)
      await take()
      await harness.pass(leaseMs - 1_000)
      expect(await take()).toEqual([])
      await harness.pass(1_000)
      expect(idsOf(await take())).toEqual(ids)
    })

    it('lets nobody finish or give back what another took since', async () => {
      await write(1)
      const late = await takeOne()
      await harness.pass(leaseMs)
      const taken = await takeOne()
      await outbox.finish(late, { state: 'failed', status: 500, error: null, isGone: false })
      await outbox.returnToQueue(late)
      expect(await look()).toMatchObject({ state: 'waiting', attempts: 0 })
      expect(await take()).toEqual([])
      await outbox.finish(taken, delivered)
      expect(await look()).toMatchObject({ state: 'delivered', attempts: 1, dueAt: null, lastStatus: 204 })
    })

    it('makes an attempt that failed due again after its pause', async () => {
      await write(1)
      const outcome = { state: 'waiting', status: null, error: 'No answer', retryInMs: 300_000 } as const
      await outbox.finish(await takeOne(), outcome)
      expect(await look()).toMatchObject({
        attempts: 1,
        lastError: 'No answer',
        lastAttemptAt: expect.any(Date),
      })
      await harness.pass(299_000)
      expect(await take()).toEqual([])
      await harness.pass(1_000)
      expect(await takeOne()).toMatchObject({ attempts: 1 })
    })

    it('has what was given back at once, as if it had not been taken', async () => {
      await write(1)
      await outbox.returnToQueue(await takeOne())
      expect(await takeOne()).toMatchObject({ attempts: 0 })
    })

    it('ends all that waits for a receiver that is gone, and gives nothing of it', async () => {
      await write(3, 'a')
      const [other] = await write(1, 'b')
      const [taken] = await take({ limitPerAccount: 1, except: ['b'] })
      if (taken === undefined) throw new Error('Nothing is due')
      await outbox.finish(taken, { state: 'failed', status: 410, error: null, isGone: true })
      const states = (await outbox.list('a', { limit: 9 })).map(({ state, dueAt }) => ({ state, dueAt }))
      expect(states).toEqual(Array(3).fill({ state: 'failed', dueAt: null }))
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: true })
      expect(idsOf(await take())).toEqual([other])
      await outbox.setEndpoint('a', { url, sealedSecret })
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: false })
    })

    it('believes a receiver that it is gone, also when who heard it was too late to finish', async () => {
      await write(2)
      const [late] = await take()
      if (late === undefined) throw new Error('Nothing is due')
      await harness.pass(leaseMs)
      await take()
      await outbox.finish(late, { state: 'failed', status: 410, error: null, isGone: true })
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: true })
      expect((await outbox.list('a', { limit: 9 })).map(({ state }) => state)).toEqual(['failed', 'failed'])
    })

    it('does not take a new address for the one that is gone', async () => {
      await write(1)
      const taken = await takeOne()
      await outbox.setEndpoint('a', { url: 'https://new.example/', sealedSecret })
      await outbox.finish(taken, { state: 'failed', status: 410, error: null, isGone: true })
      expect(await outbox.findEndpoint('a')).toMatchObject({ isGone: false })
    })

    it('signs with both secrets after a rotation, and with the new one alone when the overlap is over', async () => {
      const next = Buffer.from('sealed-2')
      expect(await outbox.rotateSecret('a', next, 60_000)).toBe(true)
      expect((await outbox.findEndpoint('a'))?.sealedSecrets).toEqual([next, sealedSecret])
      await harness.pass(60_000)
      expect((await outbox.findEndpoint('a'))?.sealedSecrets).toEqual([next])
      expect(await outbox.rotateSecret('nobody', next, 1)).toBe(false)
    })

    it('removes an endpoint, and with it what waits for that account alone', async () => {
      await write(1, 'a')
      await write(1, 'b')
      await outbox.setEndpoint('a', null)
      expect(await outbox.findEndpoint('a')).toBeNull()
      expect(await look('a')).toMatchObject({ state: 'failed', dueAt: null })
      expect(await look('b')).toMatchObject({ state: 'waiting' })
    })

    it('pages through the deliveries of an account, the newest first, and opens nothing to another', async () => {
      const ids = (await write(5, 'a')).toReversed()
      expect(idsOf(await outbox.list('a', { limit: 2 }))).toEqual(ids.slice(0, 2))
      expect(idsOf(await outbox.list('a', { limit: 9, before: ids[1] }))).toEqual(ids.slice(2))
      await write(1, 'b')
      expect(await outbox.list('b', { limit: 9, before: ids[4] })).toEqual([])
      expect(await outbox.redeliver('b', ids[0] ?? '')).toBeNull()
      expect(await outbox.redeliver('a', randomUUID())).toBeNull()
    })

    it('sends again what has ended, from the first attempt on', async () => {
      const [id = ''] = await write(1)
      await outbox.finish(await takeOne(), { state: 'failed', status: 500, error: null, isGone: false })
      expect(await take()).toEqual([])
      expect(await outbox.redeliver('a', id)).toMatchObject({
        id,
        state: 'waiting',
        attempts: 0,
        lastStatus: 500,
      })
      expect(await takeOne()).toMatchObject({ id, attempts: 0 })
    })

    it('does not send beside itself what is under way', async () => {
      const [id = ''] = await write(1)
      const taken = await takeOne()
      await outbox.redeliver('a', id)
      expect(await take()).toEqual([])
      await outbox.finish(taken, delivered)
      expect(await look()).toMatchObject({ state: 'delivered' })
    })
  })
}
