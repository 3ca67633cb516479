import { describe, expect, it } from 'vitest'
import { locateMistake } from '../../web/src/explain/locateMistake.js'
import { readBody, readHeader } from '../../web/src/explain/readInput.js'
import { toBase64 } from '../../web/src/playground/json.js'

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const samples = [
  '{"a":[1,-0.5e+3,true,false,null,"x\\u00e9\\n\\"",{}],"b":{"c":[]}}',
  '{\n  "x402Version": 2,\r\n  "paymentPayload": {"payload": {}},\n  "paymentRequirements": [[ ]]\n}\n',
]

describe('the place of a mistake in JSON', () => {
  it('is found in exactly the texts that are no JSON', () => {
    const characters = [
      '',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '\\',
      '0',
      '1',
      '-',
      '.',
      'e',
      't',
      ' ',
      '\n',
      '\u00a0',
    ]
    let mistakes = 0
    for (const sample of samples) {
      expect(locateMistake(sample)).toBeNull()
      for (let at = 0; at <= sample.length; at += 1) {
        for (const character of characters) {
          for (const removed of [0, 1]) {
            const text = sample.slice(0, at) + character + sample.slice(at + removed)
            expect(locateMistake(text) === null, text).toBe(isJson(text))
            if (!isJson(text)) mistakes += 1
          }
        }
      }
    }
    expect(mistakes).toBeGreaterThan(1_000)
  })

  it.each([
    ['', 1, 1, 'a value'],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3, 'a comma or the closing bracket'],
    ['{"a": 1,\r\n}', 2, 1, 'a name in double quotes'],
    ["{'a': 1}", 1, 2, 'a name in double quotes or }'],
    ['{"a" 1}', 1, 6, 'a colon'],
    ['[1, 2', 1, 6, 'a comma or the closing bracket'],
    ['[1}', 1, 3, 'a comma or the closing bracket'],
    ['{} {}', 1, 4, 'nothing more'],
    ['{"a": "line\nend"}', 1, 7, 'a value'],
  ])('of %j is line %i, column %i', (text, line, column, expected) => {
    expect(locateMistake(text)).toEqual({ line, column, expected })
  })

  it('is found in a text of brackets alone', () => {
    expect(locateMistake('['.repeat(65_536))).toMatchObject({ column: 65_537 })
  })
})

describe('what is pasted', () => {
  it('reaches the service as it was written', () => {
    const body = '{"amount": 12345678901234567890, "a": 1, "a": 2}'
    expect(readBody(` \n${body}\n`)).toEqual({ body })
  })

  it('can be a header, with or without its name, and requirements', () => {
    const payload = { x402Version: 2, note: 'ünïcode 🧾' }
    const header = toBase64(payload)
    const body = `{"x402Version":2,"paymentPayload":${JSON.stringify(payload)},"paymentRequirements":{ "a": 1.0 }}`
    for (const text of [
      header,
      `PAYMENT-SIGNATURE: ${header}`,
      `x-payment:${header.slice(0, 8)}\r\n ${header.slice(8)}`,
    ]) {
      expect(readHeader(text, '{ "a": 1.0 }')).toEqual({ body })
    }
    expect(readHeader(toBase64({}), '{}')).toEqual({ body: '{"paymentPayload":{},"paymentRequirements":{}}' })
  })

  it.each([
    ['', 'The body is empty.'],
    ['\n{"a": }', 'The body is malformed: line 2, column 7 must have a value.'],
    ['[]', 'The body must be a JSON object.'],
    ['null', 'The body must be a JSON object.'],
    [`{"a":"${'x'.repeat(65_536)}"}`, 'This is 65 kB: a payment has at most 64 kB.'],
    [`{"a":"${'é'.repeat(40_000)}"}`, 'This is 79 kB: a payment has at most 64 kB.'],
  ])('is refused with a reason, case %#', (input, problem) => {
    expect(readBody(input)).toEqual({ field: 'body', problem })
  })

  it.each([
    ['', '{}', 'header', 'The header is empty.'],
    ['%%%', '{}', 'header', 'The header is no base64 of a text.'],
    ['/////w==', '{}', 'header', 'The header is no base64 of a text.'],
    [btoa('{"a"}'), '{}', 'header', 'The header, decoded, is malformed: line 1, column 5 must have a colon.'],
    [btoa('1'), '{}', 'header', 'The header, decoded, must be a JSON object.'],
    [btoa('{}'), '', 'requirements', 'The JSON of the requirements is empty.'],
    [btoa('{}'), '{', 'requirements', 'The JSON of the requirements is malformed'],
    ['A'.repeat(200_000), '{}', 'header', 'This is 196 kB: a payment has at most 64 kB.'],
    [btoa(`{"a":"${'x'.repeat(40_000)}"}`), `{"a":"${'x'.repeat(40_000)}"}`, 'header', 'This is 79 kB'],
  ])('in two fields is refused with the field, case %#', (header, requirements, field, problem) => {
    expect(readHeader(header, requirements)).toMatchObject({
      field,
      problem: expect.stringContaining(problem),
    })
  })
})
