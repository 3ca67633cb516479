import { DatabaseError } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { coalesce } from '../../../../src/stores/postgres/database/coalesce.js'

/** Statements that a test ends as it likes, in the order in which they were sent. */
const createStatements = () => {
  const sent: { readonly inputs: readonly string[]; end(error?: Error): void }[] = []
  const ask = coalesce<string, string>(
    (inputs) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(inputs) : reject(error))
        sent.push({ inputs, end })
      }),
  )
  /** Lets what was asked become a statement. */
  const askOnce = async (input: string) => {
    const answer = ask(input)
    answer.catch(() => undefined)
    await new Promise((resolve) => setImmediate(resolve))
    return { answer }
  }
  return { sent, askOnce }
}

describe('calls that share statements', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('go together when two statements are under way already', async () => {
    const { sent, askOnce } = createStatements()
    const asked = []
    for (const input of ['a', 'b', 'c', 'd']) asked.push(await askOnce(input))
    expect(sent.map(({ inputs }) => inputs)).toEqual([['a'], ['b']])
    sent[0]?.end()
    await asked[0]?.answer
    await vi.waitFor(() => expect(sent).toHaveLength(3))
    expect(sent[2]?.inputs).toEqual(['c', 'd'])
  })

  it('do not wait behind one another for a database that does not answer: who waited long is told so', async () => {
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

  it('ask again each by itself when the database refused the statement, and none when it did not answer', async () => {
    const { sent, askOnce } = createStatements()
    await askOnce('a')
    await askOnce('b')
    const together = [await askOnce('c'), await askOnce('d')]
    sent[0]?.end(new Error('Query read timeout'))
    await vi.waitFor(() => expect(sent).toHaveLength(3))
    const refusal = new DatabaseError('no', 2, 'error')
    refusal.code = '23505'
    sent[2]?.end(refusal)
    await vi.waitFor(() => expect(sent).toHaveLength(4))
    expect(sent[3]?.inputs).toEqual(['c'])
    sent[3]?.end(refusal)
    await expect(together[0]?.answer).rejects.toBe(refusal)
    await vi.waitFor(() => expect(sent).toHaveLength(5))
    sent[4]?.end()
    expect(await together[1]?.answer).toBe('d')
  })
})
