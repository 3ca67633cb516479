import { DatabaseError } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { coalesce } from '../../../../src/stores/postgres/database/coalesce.js'
import { drainEventLoop } from '../../../support/manualClock.js'

/** Statements in the order sent; the test resolves them. */
const createStatements = () => {
  const sent: { readonly inputs: readonly string[]; end(error?: Error): void }[] = []
  const ask = coalesce<string, string>(
    (inputs) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(inputs) : reject(error))
        sent.push({ inputs, end })
      }),
  )
  /** Waits until pending calls were sent. */
  const askOnce = async (input: string) => {
    const answer = ask(input)
    answer.catch(() => undefined)
    await drainEventLoop()
    return { answer }
  }
  return { sent, askOnce }
}

describe('coalesced calls', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('share a statement when two are in flight', async () => {
    const { sent, askOnce } = createStatements()
    const asked = []
    for (const input of ['a', 'b', 'c', 'd']) asked.push(await askOnce(input))
    expect(sent.map(({ inputs }) => inputs)).toEqual([['a'], ['b']])
    sent[0]?.end()
    await asked[0]?.answer
    await drainEventLoop()
    expect(sent).toHaveLength(3)
    expect(sent[2]?.inputs).toEqual(['c', 'd'])
  })

  it('reject with SERVICE_UNAVAILABLE after a long wait for the database', async () => {
    const { sent, askOnce } = createStatements()
    await askOnce('a')
    await askOnce('b')
    const early = await askOnce('early')
    vi.advanceTimersByTime(4_000)
    const late = await askOnce('late')
    vi.advanceTimersByTime(1_001)
    sent[0]?.end(new Error('Query read timeout'))
    await expect(early.answer).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' })
    expect(sent.map(({ inputs }) => inputs)).toEqual([['a'], ['b'], ['late']])
    sent[2]?.end()
    expect(await late.answer).toBe('late')
  })

  it('are retried alone when the database rejects the statement, but not without a response', async () => {
    const { sent, askOnce } = createStatements()
    await askOnce('a')
    await askOnce('b')
    const together = [await askOnce('c'), await askOnce('d')]
    sent[0]?.end(new Error('Query read timeout'))
    await drainEventLoop()
    expect(sent).toHaveLength(3)
    const refusal = new DatabaseError('no', 2, 'error')
    refusal.code = '23505'
    sent[2]?.end(refusal)
    await drainEventLoop()
    expect(sent).toHaveLength(4)
    expect(sent[3]?.inputs).toEqual(['c'])
    sent[3]?.end(refusal)
    await expect(together[0]?.answer).rejects.toBe(refusal)
    await drainEventLoop()
    expect(sent).toHaveLength(5)
    sent[4]?.end()
    expect(await together[1]?.answer).toBe('d')
  })
})
