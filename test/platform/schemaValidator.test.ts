import { afterAll, describe, expect, it } from 'vitest'
import { drainEventLoop } from '../support/manualClock.js'
import {
  backtracking,
  createPatientValidator,
  useManualDeadlines,
  victim,
} from '../support/schemaValidator.js'

const validator = createPatientValidator()
afterAll(() => validator.close())

const turnOf = (owner: string, signal = new AbortController().signal) => ({ owner, signal })
const good = turnOf('good')
const text = { type: 'string' }
const messageOf = (work: Promise<unknown>) =>
  work.then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : null),
  )

describe('a schema validator', () => {
  useManualDeadlines()

  it('judges values', async () => {
    const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }
    expect(await validator.validate(schema, { city: 'Ljubljana' }, good)).toEqual({ kind: 'valid' })
    expect(await validator.validate(schema, { city: 5 }, good)).toMatchObject({
      kind: 'mismatch',
      problem: expect.stringContaining('city'),
    })
  })

  it.each([
    [{ $ref: '#/$defs/none' }, 'schema has a $ref that leads nowhere'],
    [{ $ref: '#' }, 'schema refers to itself without end'],
  ])('calls %j broken', async (schema, problem) => {
    expect(await validator.validate(schema, {}, good)).toEqual({ kind: 'broken', problem })
  })

  it('cuts a pattern that backtracks, while the process goes on, and then judges the next value', async () => {
    // On the event loop of this process, the pattern would take years, and the deadline would not fire.
    const [cut, next] = await Promise.all([
      validator.validate(backtracking, victim, good),
      validator.validate(text, 'x', good),
    ])
    expect(cut).toEqual({ kind: 'timeout' })
    expect(next).toEqual({ kind: 'valid' })
  })

  it('judges the value of another owner before a second one of the same', async () => {
    const judged: string[] = []
    const judge = async (owner: string, schema: unknown, value: string) => {
      const { kind } = await validator.validate(schema, value, turnOf(owner))
      judged.push(`${owner} ${kind}`)
    }
    const judgeHostile = () => judge('hostile', backtracking, victim)
    await Promise.all([judgeHostile(), judgeHostile(), judge('other', text, 'x')])
    expect(judged).toEqual(['hostile timeout', 'other valid', 'hostile timeout'])
  })

  it('rejects the third value of an owner, and judges those of others', async () => {
    const results = await Promise.allSettled(
      ['a', 'a', 'a', 'a', 'b', 'c'].map((owner) => validator.validate(text, 'x', turnOf(owner))),
    )
    expect(results.map(({ status }) => status === 'fulfilled')).toEqual([
      true,
      true,
      false,
      false,
      true,
      true,
    ])
  })

  it('rejects what comes while 256 owners wait, and judges all others', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 300 }, (_, index) => validator.validate(text, 'x', turnOf(`owner ${index}`))),
    )
    const judged = results.filter(({ status }) => status === 'fulfilled')
    expect(judged).toHaveLength(257)
    expect(judged.every((each) => each.status === 'fulfilled' && each.value.kind === 'valid')).toBe(true)
  })

  it('does not judge what nobody waits for any longer', async () => {
    const abandoned = new AbortController()
    const [cut, dropped, next] = [
      validator.validate(backtracking, victim, turnOf('first')),
      messageOf(validator.validate(backtracking, victim, turnOf('left', abandoned.signal))),
      validator.validate(text, 'x', good),
    ]
    abandoned.abort(new Error('hung up'))
    expect(await dropped).toBe('hung up')
    expect(await Promise.all([cut, next])).toEqual([{ kind: 'timeout' }, { kind: 'valid' }])
  })
})

it('a validator that is closed while it works ends', async () => {
  const closing = createPatientValidator()
  await closing.validate(text, 'x', good)
  const cut = closing.validate(backtracking, victim, good)
  const waiting = messageOf(closing.validate(text, 'x', good))
  await drainEventLoop()
  await closing.close()
  expect(await cut).toEqual({ kind: 'timeout' })
  expect(await waiting).toBe('The validator is closed')
  await expect(closing.validate(text, 'x', good)).rejects.toThrow()
})
