import { afterAll, describe, expect, it } from 'vitest'
import { createSchemaValidator } from '../../src/platform/schemaValidator.js'

// Longer than a busy machine needs for a value that takes no time.
const validator = createSchemaValidator({ deadlineMs: 2_000 })
afterAll(() => validator.close())

const backtracking = { pattern: '^(G+)+$' }
const victim = `${'G'.repeat(60)}!`

describe('a schema validator', () => {
  it('judges values', async () => {
    const schema = { type: 'object', required: ['city'], properties: { city: { type: 'string' } } }
    expect(await validator.validate(schema, { city: 'Ljubljana' })).toEqual({ kind: 'valid' })
    expect(await validator.validate(schema, { city: 5 })).toMatchObject({
      kind: 'mismatch',
      problem: expect.stringContaining('city'),
    })
  })

  it.each([
    [{ $ref: '#/$defs/none' }, 'schema has a $ref that leads nowhere'],
    [{ $ref: '#' }, 'schema refers to itself without end'],
  ])('calls %j broken', async (schema, problem) => {
    expect(await validator.validate(schema, {})).toEqual({ kind: 'broken', problem })
  })

  it('cuts a pattern that backtracks, while the process goes on, and then judges the next value', async () => {
    // On the event loop of this process, the pattern would take years, and the deadline would not fire.
    const [cut, next] = await Promise.all([
      validator.validate(backtracking, victim),
      validator.validate({ type: 'string' }, 'x'),
    ])
    expect(cut).toEqual({ kind: 'timeout' })
    expect(next).toEqual({ kind: 'valid' })
  })

  it('rejects what comes while too many wait, and judges all others', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, () => validator.validate({ type: 'string' }, 'x')),
    )
    const judged = results.filter(({ status }) => status === 'fulfilled')
    expect(judged.length).toBeGreaterThanOrEqual(64)
    expect(judged.length).toBeLessThan(200)
    expect(judged.every((each) => each.status === 'fulfilled' && each.value.kind === 'valid')).toBe(true)
  })
})

it('a validator that is closed while it works ends', async () => {
  const closing = createSchemaValidator()
  const cut = closing.validate(backtracking, victim)
  await closing.close()
  expect(await cut).toEqual({ kind: 'timeout' })
  await expect(closing.validate({ type: 'string' }, 'x')).rejects.toThrow()
})
