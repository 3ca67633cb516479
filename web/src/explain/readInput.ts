import { bodyLimits } from '../../../src/protocol/requestLimits.js'
import { locateMistake } from './locateMistake.js'

const names = {
  body: 'The body',
  header: 'The header, decoded,',
  requirements: 'The JSON of the requirements',
} as const

type Field = keyof typeof names

/** What is wrong with a field, as a sentence. */
export interface Problem {
  readonly field: Field
  readonly problem: string
}

/** A body of `/v1/explain` as text. */
export type ReadInput = { readonly body: string } | Problem

/** JSON as it was written: a number that JavaScript would round reaches the service unchanged. */
type ReadJson = { readonly json: string; readonly value: object } | Problem

const maxBytes = bodyLimits.payment

export const readBody = (input: string): ReadInput => {
  const read = readObject('body', input)
  return 'problem' in read ? read : limit('body', read.json)
}

/** The header names the version: `X-PAYMENT` has 1, `PAYMENT-SIGNATURE` has 2. */
export const readHeader = (header: string, requirements: string): ReadInput => {
  const decoded = decodeHeader(header)
  if ('problem' in decoded) return decoded
  const payload = readObject('header', decoded.json)
  if ('problem' in payload) return payload
  const terms = readObject('requirements', requirements)
  if ('problem' in terms) return terms
  const version = 'x402Version' in payload.value ? payload.value.x402Version : undefined
  const first = version === undefined ? '' : `"x402Version":${JSON.stringify(version)},`
  return limit('header', `{${first}"paymentPayload":${payload.json},"paymentRequirements":${terms.json}}`)
}

const limit = (field: Field, body: string): ReadInput => {
  // A text has at least as many bytes as characters; a huge one is not encoded.
  const bytes = body.length > maxBytes ? body.length : new TextEncoder().encode(body).length
  return bytes > maxBytes ? { field, problem: tooLong(bytes) } : { body }
}

const tooLong = (bytes: number): string =>
  `This is ${Math.ceil(bytes / 1_024)} kB: a payment has at most ${maxBytes / 1_024} kB.`

const readObject = (field: Field, input: string): ReadJson => {
  const name = names[field]
  const json = input.trim()
  if (json.length > maxBytes) return { field, problem: tooLong(json.length) }
  if (json === '') return { field, problem: `${name} is empty.` }
  const value = parse(json)
  if (value === undefined) {
    // The place is that in the field, blank lines included.
    const mistake = locateMistake(input.trimEnd())
    const { line, column, expected } = mistake ?? { line: 1, column: 1, expected: 'JSON' }
    return { field, problem: `${name} is malformed: line ${line}, column ${column} must have ${expected}.` }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { field, problem: `${name} must be a JSON object.` }
  }
  return { json, value }
}

/** Undefined for what is no JSON. */
const parse = (json: string): unknown => {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** With or without its name, and on one line or folded. */
const decodeHeader = (header: string): { readonly json: string } | Problem => {
  const field = 'header'
  if (header.length > 2 * maxBytes) return { field, problem: tooLong(header.length) }
  const value = header.replace(/^\s*(?:payment-signature|x-payment)\s*:/i, '').replaceAll(/\s+/g, '')
  if (value === '') return { field, problem: 'The header is empty.' }
  try {
    const bytes = Uint8Array.from(atob(value), (character) => character.charCodeAt(0))
    return { json: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return { field, problem: 'The header is no base64 of a text.' }
  }
}
