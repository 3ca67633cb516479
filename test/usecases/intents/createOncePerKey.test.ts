import { describe, expect, it } from 'vitest'
import type { Intent } from '../../../src/ports/intentStore.js'
import { createCreateIntent, createCreateOncePerKey } from '../../../src/usecases/intents/createIntent.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryIdempotency } from '../../support/memoryIdempotency.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'

const terms = { payer: 'alice', payee: 'bob', amount: '1', asset: 'gold', expiresIn: 3_600 }
const day = 86_400_000

const open = () => {
  const clock = createManualClock(new Date('2026-01-01T00:00:00Z'))
  const intents = new Map<string, Intent>()
  const kept = createMemoryIdempotency()
  let isDying = false
  const create = createCreateOncePerKey({
    clock,
    logger: createMemoryLogger(),
    store: { find: async (id) => intents.get(id) ?? null },
    idempotency: {
      ...kept,
      // As when the process ends: another one takes the key over.
      answer: (request, response) => (isDying ? kept.release(request) : kept.answer(request, response)),
    },
    createIntent: createCreateIntent({
      clock,
      store: {
        create: async ({ intent }) => {
          if (intents.has(intent.id)) throw new Error('duplicate key value')
          intents.set(intent.id, intent)
        },
      },
      planRoutes: async ({ expiresAt }) => ({ routes: [], unavailable: [], validUntil: expiresAt }),
    }),
  })
  return {
    clock,
    intents,
    create: async (idempotencyKey: string | null, changes: Partial<typeof terms> = {}, caller = 'shop') => {
      const { answer, isReplayed } = await create({ terms: { ...terms, ...changes }, caller, idempotencyKey })
      return { id: answer.intent.id, isReplayed }
    },
    die: () => {
      isDying = true
    },
  }
}

describe('an intent created with an Idempotency-Key', () => {
  it('is created once, and each without a key is another', async () => {
    const { create, intents } = open()
    const first = await create('order-1')
    expect(first.isReplayed).toBe(false)
    expect(await create('order-1')).toEqual({ id: first.id, isReplayed: true })
    const [second, third] = [await create(null), await create(null)]
    expect(new Set([first.id, second.id, third.id]).size).toBe(3)
    expect(intents.size).toBe(3)
  })

  it('is created once also if the process dies between the intent and its answer', async () => {
    const { create, intents, die } = open()
    die()
    const first = await create('order-1')
    expect(await create('order-1')).toEqual({ id: first.id, isReplayed: true })
    expect(intents.size).toBe(1)
  })

  it('is another for another key, body or account', async () => {
    const { create, intents } = open()
    await create('order-1')
    await create('order-2')
    await create('order-1', {}, 'other shop')
    await create('order-1', {}, 'anonymous')
    await create('order-1', { amount: '2' }, 'anonymous')
    expect(intents.size).toBe(5)
    await expect(create('order-1', { amount: '2' })).rejects.toThrow('another payload')
  })

  it('is created anew when the key is no longer kept', async () => {
    const { create, intents, clock, die } = open()
    die()
    const first = await create('order-1')
    await clock.advance(day - 1)
    expect(await create('order-1')).toEqual({ id: first.id, isReplayed: true })
    await clock.advance(1)
    const second = await create('order-1')
    expect(second.isReplayed).toBe(false)
    expect([...intents.keys()]).toEqual([first.id, second.id])
  })

  it('has a UUID', async () => {
    const { create } = open()
    expect((await create('order-1')).id).toMatch(
      /^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$/,
    )
  })
})
