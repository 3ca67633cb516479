import fc from 'fast-check'
import { DatabaseError } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { coalesce, createKeyQueue, InputFailure } from '../../../../src/stores/postgres/database/coalesce.js'
import { drainEventLoop } from '../../../support/manualClock.js'

const refused = (code: string): DatabaseError => Object.assign(new DatabaseError('no', 2, 'error'), { code })
const unavailable = { code: 'SERVICE_UNAVAILABLE', retryAfterSeconds: 1 }

/** Statements in the order sent; the test resolves them. */
const createStatements = () => {
  const sent: { readonly inputs: readonly string[]; end(error?: Error): void }[] = []
  const uncertain: string[] = []
  const ask = coalesce<string, string>(
    (inputs) =>
      new Promise((resolve, reject) => {
        const end = (error?: Error) => (error === undefined ? resolve(inputs) : reject(error))
        sent.push({ inputs, end })
      }),
    { onUncertain: (input) => uncertain.push(input) },
  )
  /** Waits until pending calls were sent. */
  const askOnce = async (input: string) => {
    const answer = ask(input)
    answer.catch(() => undefined)
    await drainEventLoop()
    return { answer }
  }
  /** In one batch, behind two that run. */
  const askTogether = async (...inputs: readonly string[]) => {
    await askOnce('before')
    await askOnce('beside')
    const asked = []
    for (const input of inputs) asked.push((await askOnce(input)).answer)
    sent[0]?.end()
    await drainEventLoop()
    return asked
  }
  return { sent, uncertain, ask, askOnce, askTogether }
}

describe('coalesced calls', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
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

  it('are answered after five seconds in the queue, whether or not a statement ends', async () => {
    const { sent, askOnce } = createStatements()
    await askOnce('a')
    await askOnce('b')
    const early = await askOnce('early')
    vi.advanceTimersByTime(4_000)
    const late = await askOnce('late')
    vi.advanceTimersByTime(1_001)
    await expect(early.answer).rejects.toMatchObject(unavailable)
    sent[0]?.end(new Error('Query read timeout'))
    await drainEventLoop()
    expect(sent.map(({ inputs }) => inputs)).toEqual([['a'], ['b'], ['late']])
    sent[2]?.end()
    expect(await late.answer).toBe('late')
  })

  it('are answered after twelve seconds in all, and what is committed later is uncertain', async () => {
    const { sent, uncertain, askOnce } = createStatements()
    await askOnce('a')
    await askOnce('b')
    const waited = await askOnce('waited')
    vi.advanceTimersByTime(4_000)
    sent[0]?.end()
    await drainEventLoop()
    expect(sent[2]?.inputs).toEqual(['waited'])
    vi.advanceTimersByTime(8_000)
    await expect(waited.answer).rejects.toMatchObject(unavailable)
    expect(uncertain).toEqual([])
    sent[2]?.end()
    await drainEventLoop()
    expect(uncertain).toEqual(['waited'])
  })

  it('are not tried again once they are answered', async () => {
    const { sent, uncertain, askTogether } = createStatements()
    const answers = await askTogether('c', 'd')
    vi.advanceTimersByTime(12_000)
    for (const answer of answers) await expect(answer).rejects.toMatchObject(unavailable)
    sent[2]?.end(refused('23505'))
    await drainEventLoop()
    expect(sent).toHaveLength(3)
    expect(uncertain).toEqual([])
  })

  it.each([
    { failure: 'is cancelled', error: refused('57014'), isUncertain: false },
    { failure: 'meets a lock', error: refused('55P03'), isUncertain: false },
    { failure: 'finds no memory', error: refused('53200'), isUncertain: false },
    { failure: 'is not answered', error: new Error('Query read timeout'), isUncertain: true },
    { failure: 'loses its connection', error: new Error('Connection terminated'), isUncertain: true },
    { failure: 'meets the end of the server', error: refused('57P01'), isUncertain: true },
  ])('fail as one, and are not repeated, when the statement $failure', async ({ error, isUncertain }) => {
    const { sent, uncertain, askTogether } = createStatements()
    const answers = await askTogether('c', 'd', 'e')
    sent[2]?.end(error)
    for (const answer of answers) await expect(answer).rejects.toMatchObject({ ...unavailable, cause: error })
    expect(sent).toHaveLength(3)
    expect(uncertain).toEqual(isUncertain ? ['c', 'd', 'e'] : [])
  })

  it('fail as one when the statement fails with any input', async () => {
    const { sent, askTogether } = createStatements()
    const answers = await askTogether('c', 'd')
    const error = refused('42703')
    sent[2]?.end(error)
    for (const answer of answers) await expect(answer).rejects.toBe(error)
    expect(sent).toHaveLength(3)
  })

  it.each(['40P01', '40001'])('are repeated together, twice, after a conflict (%s)', async (code) => {
    const { sent, askTogether } = createStatements()
    const answers = await askTogether('c', 'd')
    for (const attempt of [2, 3, 4]) {
      expect(sent[attempt]?.inputs).toEqual(['c', 'd'])
      sent[attempt]?.end(refused(code))
      await drainEventLoop()
      vi.advanceTimersByTime(50)
      await drainEventLoop()
    }
    for (const answer of answers) await expect(answer).rejects.toMatchObject(unavailable)
    expect(sent).toHaveLength(5)
  })

  it('are rejected alone when the database rejects their data, in few statements', async () => {
    const statements: (readonly string[])[] = []
    const error = refused('22P02')
    const ask = coalesce<string, string>(async (inputs) => {
      statements.push(inputs)
      if (inputs.includes('poison')) throw error
      return inputs
    })
    const inputs = Array.from({ length: 50 }, (_, index) => (index === 17 ? 'poison' : `input ${index}`))
    const results = await Promise.allSettled(inputs.map(ask))
    expect(results).toEqual(
      inputs.map((input) =>
        input === 'poison' ? { status: 'rejected', reason: error } : { status: 'fulfilled', value: input },
      ),
    )
    // The batch, and two halves of each part that has the faulty input.
    expect(statements.length).toBeLessThanOrEqual(13)
  })

  it('fail alone where the batch says so', async () => {
    const ask = coalesce<string, string>(async (inputs) =>
      inputs.map((input) => (input === 'locked' ? new InputFailure(refused('55P03')) : input)),
    )
    const results = await Promise.allSettled(['free', 'locked'].map(ask))
    expect(results).toMatchObject([{ value: 'free' }, { reason: unavailable }])
  })

  it('are refused at once when too many wait', async () => {
    const { sent, ask, askOnce } = createStatements()
    await askOnce('a')
    await askOnce('b')
    const answers = Array.from({ length: 5_000 }, (_, index) => ask(`${index}`))
    const settled = Promise.allSettled(answers)
    await expect(ask('one too many')).rejects.toMatchObject(unavailable)
    // Those that are answered meanwhile still take their places, so that their number is bounded.
    vi.advanceTimersByTime(5_000)
    expect(await settled).toEqual(answers.map(() => expect.objectContaining({ status: 'rejected' })))
    await expect(ask('another')).rejects.toMatchObject(unavailable)
    expect(sent).toHaveLength(2)
    sent[0]?.end()
    await drainEventLoop()
    const next = await askOnce('next')
    sent[2]?.end()
    expect(await next.answer).toBe('next')
    expect(sent.map(({ inputs }) => inputs)).toEqual([['a'], ['b'], ['next']])
  })

  it('get their own answer in any mix of faults, and cause few statements', async () => {
    const faults = fc.array(fc.constantFrom('none', 'none', 'busy', 'conflict', 'lost'), { minLength: 1 })
    const calls = fc.array(fc.constantFrom('good', 'good', 'good', 'poison'), {
      minLength: 1,
      maxLength: 60,
    })
    await fc.assert(
      fc.asyncProperty(faults, calls, async (plan, kinds) => {
        let statements = 0
        const ask = coalesce<string, string>(async (inputs) => {
          const fault = plan[statements % plan.length]
          statements += 1
          if (fault === 'busy') throw refused('57014')
          if (fault === 'conflict') throw refused('40P01')
          if (fault === 'lost') throw new Error('Connection terminated')
          if (inputs.some((input) => input.startsWith('poison'))) throw refused('22P02')
          return inputs
        })
        const inputs = kinds.map((kind, index) => `${kind} ${index}`)
        let isOver = false
        const settling = Promise.allSettled(inputs.map(ask)).finally(() => {
          isOver = true
        })
        while (!isOver) {
          vi.advanceTimersByTime(50)
          await drainEventLoop()
        }
        for (const [index, result] of (await settling).entries()) {
          if (result.status === 'fulfilled') expect(result.value).toBe(inputs[index])
          else if (result.reason instanceof DatabaseError) expect(inputs[index]).toContain('poison')
          else expect(result.reason).toMatchObject(unavailable)
        }
        const poisons = kinds.filter((kind) => kind === 'poison').length
        // A conflict repeats what is split at most twice; each faulty input is split off in six steps.
        expect(statements).toBeLessThanOrEqual(3 * (1 + 12 * poisons))
      }),
      { numRuns: 200 },
    )
  })
})

describe('the queue of a key', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  const createWork = () => {
    const begun: { readonly name: string; readonly endsAt: number; end(): void }[] = []
    const inTurn = createKeyQueue()
    const add = (key: string, name: string) => {
      const result = inTurn(
        key,
        (endsAt) => new Promise<string>((resolve) => begun.push({ name, endsAt, end: () => resolve(name) })),
      )
      result.catch(() => undefined)
      return result
    }
    return { begun, add }
  }

  it('answers after five seconds of waiting, also while the work before it lasts', async () => {
    const { begun, add } = createWork()
    const first = add('a', 'first')
    const second = add('a', 'second')
    const other = add('b', 'other')
    expect(begun.map(({ name }) => name)).toEqual(['first', 'other'])
    vi.advanceTimersByTime(5_000)
    await expect(second).rejects.toMatchObject(unavailable)
    const third = add('a', 'third')
    for (const { end } of begun) end()
    expect([await first, await other]).toEqual(['first', 'other'])
    await drainEventLoop()
    expect(begun.map(({ name }) => name)).toEqual(['first', 'other', 'third'])
    begun[2]?.end()
    expect(await third).toBe('third')
  })

  it('answers after twelve seconds in all, which the work is told', async () => {
    const { begun, add } = createWork()
    const first = add('a', 'first')
    vi.advanceTimersByTime(12_000)
    await expect(first).rejects.toMatchObject(unavailable)
    // Of work that begins when the first one has to end.
    add('b', 'other')
    expect(begun[1]?.endsAt).toBe((begun[0]?.endsAt ?? 0) + 12_000)
  })

  it('goes on after work that fails, at once or later', async () => {
    const inTurn = createKeyQueue()
    const bug = new TypeError('no')
    const failing = [
      inTurn('a', () => {
        throw bug
      }),
      inTurn('a', async () => {
        throw bug
      }),
    ]
    for (const work of failing) await expect(work).rejects.toBe(bug)
    expect(await inTurn('a', async () => 'next')).toBe('next')
  })

  it('is bounded, and leaves places to other keys', async () => {
    const { begun, add } = createWork()
    add('a', 'first')
    const waiting = Array.from({ length: 1_000 }, (_, index) => add('a', `${index}`))
    await expect(add('a', 'one too many')).rejects.toMatchObject(unavailable)
    add('b', 'other')
    expect(begun.map(({ name }) => name)).toEqual(['first', 'other'])
    vi.advanceTimersByTime(5_000)
    await Promise.allSettled(waiting)
    begun[0]?.end()
    await drainEventLoop()
    const next = add('a', 'next')
    await drainEventLoop()
    expect(begun.map(({ name }) => name)).toEqual(['first', 'other', 'next'])
    begun[2]?.end()
    expect(await next).toBe('next')
  })
})
