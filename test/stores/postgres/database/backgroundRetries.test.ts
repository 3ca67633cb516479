import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createBackgroundRetries } from '../../../../src/stores/postgres/database/statements.js'
import { drainEventLoop } from '../../../support/manualClock.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const pass = async (seconds: number) => {
  for (let second = 0; second < seconds; second += 1) {
    vi.advanceTimersByTime(1_000)
    await drainEventLoop()
  }
}

/** Writes of a database that can be away, and what was begun and written. */
const createWrites = () => {
  const begun: string[] = []
  const written: string[] = []
  const state = { isAway: true, atOnce: 0, mostAtOnce: 0 }
  const retry = createBackgroundRetries()
  const add = (name: string, { isPoisoned = false } = {}) =>
    retry(async () => {
      begun.push(name)
      state.atOnce += 1
      state.mostAtOnce = Math.max(state.mostAtOnce, state.atOnce)
      await Promise.resolve()
      state.atOnce -= 1
      if (state.isAway || isPoisoned) throw new Error('no')
      written.push(name)
    })
  return { state, begun, written, add }
}

it('writes that failed take turns while the database is away, and all succeed once it is back', async () => {
  const { state, begun, written, add } = createWrites()
  const names = Array.from({ length: 1_000 }, (_, index) => `${index}`)
  for (const name of names) add(name)
  expect(begun).toEqual([])
  await pass(10)
  expect(begun).toHaveLength(40)
  expect(state.mostAtOnce).toBe(4)
  state.isAway = false
  await pass(1)
  await drainEventLoop()
  expect(written.toSorted()).toEqual(names.toSorted())
  await pass(5)
  expect(written).toHaveLength(1_000)
})

it('a write that always fails keeps no other from its turn, and is given up after two minutes', async () => {
  const { state, begun, written, add } = createWrites()
  state.isAway = false
  add('poison', { isPoisoned: true })
  await pass(10)
  add('good')
  await pass(1)
  expect(written).toEqual(['good'])
  await pass(120)
  const attempts = begun.length
  await pass(10)
  expect(begun).toHaveLength(attempts)
})

it('writes beyond ten thousand are left to the end of their ownership', async () => {
  const { state, written, add } = createWrites()
  for (let index = 0; index < 10_001; index += 1) add(`${index}`)
  state.isAway = false
  await pass(1)
  for (let turn = 0; turn < 100; turn += 1) await drainEventLoop()
  expect(written).toHaveLength(10_000)
})
