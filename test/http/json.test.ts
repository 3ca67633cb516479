import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from '../../src/errors.js'
import { maxJsonDepth, maxJsonValues, readJson } from '../../src/http/json.js'
import { anyText } from '../support/anyText.js'

const read = (text: string): unknown => readJson(Buffer.from(text))

const refusalOf = (bytes: string | Buffer): string => {
  try {
    readJson(Buffer.from(bytes))
  } catch (error) {
    if (error instanceof AppError && error.code === 'INVALID_REQUEST') return error.message
    throw error
  }
  throw new Error('was not refused')
}

/** Writes some characters of a key as escapes; the key is equal. */
const escapeSome = (key: string, mask: readonly boolean[]): string => {
  const spelled = [...key.split('')].map((character, at) =>
    mask[at % Math.max(1, mask.length)]
      ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : JSON.stringify(character).slice(1, -1),
  )
  return `"${spelled.join('')}"`
}

const attempt = (work: () => unknown): { value: unknown } | { refused: unknown } => {
  try {
    return { value: work() }
  } catch (refused) {
    return { refused }
  }
}

const reachesForPrototype = /"(?:__proto__|prototype)"/

describe('a JSON body', () => {
  it('is parsed as by JSON.parse', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 8 }), (text) => {
        fc.pre(!reachesForPrototype.test(text))
        expect(read(text)).toStrictEqual(JSON.parse(text))
      }),
      { numRuns: 2_000 },
    )
  })

  it('is rejected whenever JSON.parse rejects it, and never parsed differently', () => {
    const fragment = fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '"a"', '"b":', '1', 'null', ' ')
    fc.assert(
      fc.property(fc.array(fragment, { maxLength: 12 }), (fragments) => {
        const text = fragments.join('')
        const outcome = attempt(() => read(text))
        if ('refused' in outcome) expect(outcome.refused).toBeInstanceOf(AppError)
        else expect(outcome.value).toStrictEqual(JSON.parse(text))
      }),
      { numRuns: 5_000 },
    )
  })

  it('is rejected if an object has a duplicate key, at any depth and with any escapes', () => {
    const wrapper = fc.constantFrom(
      (inner: string) => `{"outer":${inner}}`,
      (inner: string) => `[1,${inner},{}]`,
      (inner: string) => `{"a":[{"b":"}{\\"["}],"c":${inner},"d":null}`,
      (inner: string) => ` [ ${inner} ] `,
    )
    fc.assert(
      fc.property(
        anyText(),
        fc.array(fc.boolean(), { maxLength: 5 }),
        fc.array(fc.boolean(), { maxLength: 5 }),
        fc.jsonValue({ maxDepth: 2 }),
        fc.array(wrapper, { maxLength: 10 }),
        (key, firstMask, secondMask, between, wrappers) => {
          const first = escapeSome(key, firstMask)
          const second = escapeSome(key, secondMask)
          const core = `{${first}:${JSON.stringify(between)},"${key.length + 1}#between":2,${second}:3}`
          const text = wrappers.reduce((inner, wrap) => wrap(inner), core)
          expect(refusalOf(text)).toMatch(/duplicate key|this key is not allowed/)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['{"a":1,"a":2}', 'a: duplicate key in the same object'],
    ['{"paymentRequirements":{"amount":"1","amount":"2"}}', 'paymentRequirements.amount: duplicate key'],
    ['{"accepts":[{},{"payTo":"x","payTo":"y"}]}', 'accepts[1].payTo: duplicate key'],
    ['{"amount":"1","\\u0061mount":"2"}', 'amount: duplicate key'],
    ['{"\\ud83d\\ude00":1,"😀":2}', '😀: duplicate key'],
    ['{"a\\"b":1,"a\\u0022b":2}', 'a"b: duplicate key'],
    ['{"":1,"":2}', ': duplicate key'],
  ])('%s is rejected with the path of the key', (text, message) => {
    expect(refusalOf(text)).toContain(message)
  })

  it.each([
    '{"a":{"a":{"a":1}}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":"a"}',
    '{"a":["a","a"],"b":{"a":1}}',
    '{"a":"{\\"a\\":1,\\"a\\":2}"}',
    '{"A":1,"a":2}',
    '{"a\\\\":1,"a":2}',
  ])('%s has no duplicate key', (text) => {
    expect(read(text)).toStrictEqual(JSON.parse(text))
  })

  it.each([
    ['{"__proto__":{"isAdmin":true}}', '__proto__'],
    ['{"a":[{"\\u005f_proto__":1}]}', 'a[0].__proto__'],
    ['{"constructor":{"prototype":{"isAdmin":true}}}', 'constructor.prototype'],
    ['{"a":{"const\\u0072uctor":{"x":1,"prototype":{}}}}', 'a.constructor.prototype'],
  ])('%s is rejected because of prototype pollution', (text, path) => {
    expect(refusalOf(text)).toBe(`${path}: this key is not allowed`)
  })

  it('can contain similar harmless keys', () => {
    expect(read('{"constructor":"Bob","prototype":1}')).toStrictEqual({ constructor: 'Bob', prototype: 1 })
  })

  it('can be nested 32 levels deep, and no deeper', () => {
    const nest = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
    expect(read(nest(maxJsonDepth))).toStrictEqual(JSON.parse(nest(maxJsonDepth)))
    expect(refusalOf(nest(maxJsonDepth + 1))).toContain('nested deeper than 32 levels')
    expect(refusalOf(`{"a":${'{"b":'.repeat(40)}1${'}'.repeat(41)}`)).toContain(' at a.b.b')
  })

  it('is not parsed if its nesting is excessive', () => {
    // Parsed, it would be no valid JSON.
    expect(refusalOf('['.repeat(1_000_000))).toContain('nested deeper')
  })

  const tooMany = `The body has more than ${maxJsonValues} keys and array elements`
  const list = (length: number, item: (at: number) => string) =>
    Array.from({ length }, (_, at) => item(at)).join()

  it.each([
    ['elements', (values: number) => `[${list(values, () => '0')}]`],
    ['keys', (values: number) => `{${list(values, (at) => `"${at}":0`)}}`],
    ['escaped keys', (values: number) => `{${list(values, (at) => `"\\u0061${at}":0`)}}`],
    ['keys of many objects', (values: number) => `[${list(Math.ceil(values / 2), () => '{"a":0}')}]`],
    ['keys with space around', (values: number) => `{${list(values, (at) => ` "${at}" : 0 `)}}`],
  ])('can have at most 2,000 %s', (_name, write) => {
    expect(read(write(maxJsonValues))).toStrictEqual(JSON.parse(write(maxJsonValues)))
    expect(refusalOf(write(maxJsonValues + 1))).toBe(tooMany)
  })

  it('can have 1,000 empty objects: each counts as one key', () => {
    expect(read(`[${list(maxJsonValues / 2, () => '{}')}]`)).toHaveLength(maxJsonValues / 2)
    expect(refusalOf(`[${list(maxJsonValues / 2 + 1, () => '{}')}]`)).toBe(tooMany)
  })

  it.each(['{"a":",,,,"}', '{"a":"[{[{"}', '{"a":"\\",,[{"}'])(
    'may have any number of commas and brackets in texts: %s',
    (text) => {
      const long = text.replace(/[,[{]+"}$/, (part) => `${part.slice(0, -2).repeat(5_000)}"}`)
      expect(read(long)).toStrictEqual(JSON.parse(long))
    },
  )

  it('with too many values is rejected without reading the rest', () => {
    // The rest has a key that is not allowed, and no end.
    expect(refusalOf(`[${'0,'.repeat(maxJsonValues + 1)}{"__proto__":1},`)).toBe(tooMany)
  })

  it('takes linear time for any content', () => {
    // Sizes at which quadratic time takes hours, far beyond the limit of a test.
    const nasty = [
      `{${list(500_000, (at) => `"k${at}":1`)}}`,
      `{"a":"${'\\\\'.repeat(4_000_000)}"}`,
      `{"a":"${'\\"'.repeat(4_000_000)}"}`,
      `"${'\\'.repeat(8_000_000)}`,
      `[${'"a",'.repeat(2_000_000)}"a"]`,
    ]
    for (const text of nasty) {
      try {
        read(text)
      } catch (error) {
        expect(error).toBeInstanceOf(AppError)
      }
    }
  })

  it.each([
    [Buffer.from([0x22, 0xff, 0x22]), 'a byte that never occurs'],
    [Buffer.from([0x22, 0xc0, 0xaf, 0x22]), 'an overlong slash'],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'an encoded surrogate'],
    [Buffer.from([0x22, 0xe2, 0x82]), 'a sequence that ends early'],
    [Buffer.from('{"a":1}', 'utf16le').subarray(1), 'UTF-16'],
  ])('%o is rejected as invalid UTF-8 (%s)', (bytes) => {
    expect(refusalOf(bytes)).toMatch(/not valid UTF-8|not valid JSON/)
  })

  it('can begin with one byte order mark', () => {
    expect(read('\ufeff{"a":1}')).toStrictEqual({ a: 1 })
    expect(refusalOf('\ufeff\ufeff{}')).toContain('not valid JSON')
    expect(refusalOf('{\ufeff}')).toContain('not valid JSON')
  })

  it.each(['', '\ufeff'])('%o is rejected as empty', (text) => {
    expect(refusalOf(text)).toBe('The body is empty; a JSON object is expected')
  })

  it('is rejected with the error position, without quoting the body', () => {
    const message = refusalOf('{"apiKey": "hunter2", oops}')
    expect(message).toMatch(/^The body is not valid JSON \(at character \d+\)$/)
  })

  it('is reported with a path of bounded length', () => {
    const long = 'k'.repeat(100_000)
    const text = `{"${long}":{"${long}":{"${long}":{"${long}":{"a":1,"a":2}}}}}`
    expect(refusalOf(text).length).toBeLessThan(400)
  })
})
