import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from '../../../src/usecases/core/idempotency/fingerprint.js'
import { anyText } from '../../support/anyText.js'

/** Values that `JSON.parse` can return, including numbers beyond double range. */
const content = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom(
      null,
      true,
      false,
      0,
      1,
      '',
      'null',
      '0',
      '1e999',
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ),
    anyText(),
    // JSON.parse('-0') is -0, which equals 0 here.
    fc.double({ noNaN: true }).map((number) => number + 0),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom('a', 'b', '1', '10', '2', 'constructor'), anyText()),
      tie('value'),
      { maxKeys: 5, noNullPrototype: true },
    ),
  ),
})).value

const reverseKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(reverseKeys)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([key, item]) => [key, reverseKeys(item)]),
  )
}

const plain = (value: unknown): unknown => JSON.parse(canonicalJson(value))

describe('canonicalJson', () => {
  it.each([
    [{ b: 1, a: [true, null, 'x'] }, '{"a":[true,null,"x"],"b":1}'],
    [{ a: { d: {}, c: [] } }, '{"a":{"c":[],"d":{}}}'],
    [{ 10: 'ten', 9: 'nine' }, '{"10":"ten","9":"nine"}'],
    [{ kept: null, dropped: undefined }, '{"kept":null}'],
    [[undefined, 1], '[null,1]'],
    [undefined, 'null'],
    ['"\\\u2028', '"\\"\\\\\u2028"'],
    [1e21, '1e+21'],
    [-0, '0'],
  ])('writes %j as %s', (value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it('is independent of the order of keys', () => {
    fc.assert(
      fc.property(content, (value) => {
        expect(canonicalJson(reverseKeys(value))).toBe(canonicalJson(value))
      }),
    )
  })

  it('is independent of white space and escapes', () => {
    const compact = JSON.parse('{"amount":"10000","a":[1,2]}')
    const spread = JSON.parse('{\n  "\\u0061" : [ 1.0, 2e0 ],\n  "amount" : "\\u00310000"\n}')
    expect(canonicalJson(spread)).toBe(canonicalJson(compact))
  })

  it('differs wherever the content differs', () => {
    fc.assert(
      fc.property(content, content, (left, right) => {
        expect(canonicalJson(left) === canonicalJson(right)).toBe(
          isDeepStrictEqual(plain(left), plain(right)),
        )
        expect(canonicalJson(left) === canonicalJson(right)).toBe(isDeepStrictEqual(left, right))
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['a number and its digits', 1, '1'],
    ['null and a number too large for a double', null, Number.POSITIVE_INFINITY],
    ['both infinities', Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    ['a missing key and null', {}, { a: null }],
    ['an empty list and an empty object', [], {}],
    ['a list and an object with its indexes', ['x'], { 0: 'x' }],
    ['nested and flat', { a: { b: 1 } }, { 'a.b': 1 }],
    ['the order of a list', [1, 2], [2, 1]],
    ['letter case', { a: 'A' }, { a: 'a' }],
    ['composed and decomposed letters', '\u00e9', 'e\u0301'],
  ])('distinguishes %s', (_, left, right) => {
    expect(canonicalJson(left)).not.toBe(canonicalJson(right))
  })

  it('is JSON that parses to the same content', () => {
    fc.assert(
      fc.property(content, (value) => {
        expect(plain(value)).toEqual(value)
        expect(canonicalJson(plain(value))).toBe(canonicalJson(value))
      }),
    )
  })

  it('keeps keys that exist on Object.prototype', () => {
    const hostile = JSON.parse('{"__proto__":{"a":1},"constructor":2}')
    expect(canonicalJson(hostile)).toBe('{"__proto__":{"a":1},"constructor":2}')
  })
})
