import { once } from 'node:events'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSettlementJournal } from '../../src/stores/postgres/journal/settlementJournal.js'
import { createWebhookOutbox } from '../../src/stores/postgres/webhooks/webhookOutbox.js'
import { createWebhookSecret } from '../../src/usecases/webhooks/endpoint.js'
import { claimOf } from '../support/claimOf.js'
import { emptyTables } from '../support/emptyTables.js'
import { addInstance } from '../support/instances.js'
import { pollUntil } from '../support/pollUntil.js'
import { useTestDatabase } from '../support/postgres.js'
import { findProgram } from '../support/program.js'
import { spawnChild } from '../support/spawnChild.js'
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhookReceiver.js'
import { openWebhookWorker, plainSealer } from '../support/webhookWorker.js'

const workerProgram = new URL('../support/webhookWorker.ts', import.meta.url)
const running = new AbortController().signal

describe('webhooks, on a real database and real TLS', () => {
  const database = useTestDatabase()
  let receiver: WebhookReceiver
  let secret: string

  const { pool } = database
  const outbox = createWebhookOutbox(pool)
  beforeEach(async () => {
    await emptyTables(pool, 'settlements', 'webhook_endpoints', 'webhook_deliveries')
    receiver = await startWebhookReceiver()
    secret = createWebhookSecret()
    await outbox.setEndpoint('a', { url: receiver.url, sealedSecret: plainSealer.seal(secret) })
  })
  afterEach(() => receiver.close())

  const settle = async (count: number): Promise<readonly string[]> => {
    const journal = createSettlementJournal(pool, await addInstance(pool))
    return await Promise.all(
      Array.from({ length: count }, async (_, at) => {
        const claimed = await journal.claim(claimOf({ caller: 'a' }))
        if (claimed === null) throw new Error('Claimed by another')
        await journal.recorderFor(claimed.id).record({ transaction: `0x${at}`, bytes: `bytes ${at}` })
        await journal.close(claimed.id, { state: 'confirmed', transaction: `0x${at}` })
        return claimed.id
      }),
    )
  }
  const listReceived = () =>
    receiver.received.map(({ body, headers }) => {
      const event: unknown = new Webhook(secret).verify(body, headers)
      expect(event).toMatchObject({ type: 'settlement.confirmed', data: { status: 'confirmed' } })
      return JSON.parse(body).data.id
    })
  const countDelivered = async () =>
    (await outbox.list('a', { limit: 1_000 })).filter(({ state }) => state === 'delivered').length

  it('several instances deliver each event once in total', async () => {
    const workers = [1, 2, 3].map(() => openWebhookWorker(database.url))
    const settled = await settle(60)

    await Promise.all(workers.map(({ deliver }) => deliver(running)))

    await Promise.all(workers.map(({ close }) => close()))
    const unsent = (await outbox.list('a', { limit: 1_000 })).filter(({ state }) => state !== 'delivered')
    expect(unsent).toEqual([])
    expect(listReceived().sort()).toEqual([...settled].sort())
  })

  it('kill -9 during delivery loses none', async () => {
    const settled = await settle(6)
    receiver.answer(() => new Promise(() => undefined))
    const { flags, file } = findProgram(workerProgram)
    const child = spawnChild([process.execPath, ...flags, file, database.url], { stdio: 'ignore' })
    // No more: an account has four attempts at a time, and none of these ends.
    await pollUntil(() => receiver.received.length === 4, 'the child to be in the middle')
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    expect(await countDelivered()).toBe(0)

    receiver.answer(() => ({ status: 204 }))
    const worker = openWebhookWorker(database.url)
    await worker.deliver(running)
    // The child's own are left alone until their leases end.
    expect(await countDelivered()).toBe(2)
    await pool.query("update webhook_deliveries set due_at = now() where state = 'waiting'")
    await pollUntil(async () => {
      await worker.deliver(running)
      return (await countDelivered()) === 6
    }, 'the others to take over')
    await worker.close()
    expect([...new Set(listReceived())].sort()).toEqual([...settled].sort())
    // At least once; duplicates only of deliveries that the killed instance had begun.
    expect(receiver.received).toHaveLength(6 + 4)
  })
})
