import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { expecting } from '../../../src/chains/nodes/endpoint.js'

const shape = z.object({ hash: z.string(), amount: z.string().transform(BigInt) })
const shapeOf = (asked: string) =>
  expecting(shape, ({ hash, amount }) => (hash === asked ? amount : undefined), 'of another transaction')

describe('a shape that expects something of one request', () => {
  it('returns what is read from the answer', () => {
    expect(shapeOf('a').parse({ hash: 'a', amount: '5' })).toBe(5n)
    expect(expecting(shape, () => null, '').parse({ hash: 'a', amount: '5' })).toBeNull()
  })

  it('rejects an answer to another request, and one of another form, as unreadable', () => {
    for (const answer of [{ hash: 'b', amount: '5' }, { hash: 'a' }, null]) {
      expect(() => shapeOf('a').parse(answer)).toThrow(z.ZodError)
      expect(shapeOf('a').safeParse(answer).success).toBe(false)
    }
    expect(() => shapeOf('a').parse({ hash: 'b', amount: '5' })).toThrow('of another transaction')
  })
})
