import type { Hex } from 'viem'
import { isFields } from '../../../protocol/fields.js'
import type { Payment } from '../../../protocol/payment.js'

/** Who takes part in a payment, as x402's extension `builder-code` names them. */
export interface BuilderCodes {
  /** The application that sells. */
  readonly app: string | null
  /** Services of client and resource server. */
  readonly services: readonly string[]
}

export const builderCodeExtension = 'builder-code'

const builderCodeForm = /^[a-z0-9_]{1,32}$/

// The published packages allow five of the client and five of the resource server.
const maxServices = 10

/** Leaves out what has another form. In version 1 the resource server does not confirm the application. */
export const readBuilderCodes = ({ version, extensions }: Payment): BuilderCodes | null => {
  const declared = extensions[builderCodeExtension]
  const info = isFields(declared) && isFields(declared.info) ? declared.info : {}
  const services = (Array.isArray(info.s) ? info.s.slice(0, maxServices * 2) : [info.s])
    .filter(isCode)
    .slice(0, maxServices)
  const app = version === 2 && isCode(info.a) ? info.a : null
  return app === null && services.length === 0 ? null : { app, services }
}

/**
 * What calldata ends with (ERC-8021, schema 2): a CBOR map, its length, the schema, a marker. Contracts ignore it. Empty
 * without a code.
 */
export const encodeBuilderCodes = (own: string | null, codes: BuilderCodes | null): string => {
  const entries = [
    ...(codes === null || codes.app === null ? [] : [text('a') + text(codes.app)]),
    ...(own === null ? [] : [text('w') + text(own)]),
    ...(codes === null || codes.services.length === 0
      ? []
      : [text('s') + head(4, codes.services.length) + codes.services.map(text).join('')]),
  ]
  if (entries.length === 0) return ''
  const map = head(5, entries.length) + entries.join('')
  return map + (map.length / 2).toString(16).padStart(4, '0') + schema + marker
}

/** Gas that the digits add to a transaction, at most: 40 for a byte (EIP-7623). */
export const gasOfBuilderCodes = (digits: string): bigint => 40n * BigInt(digits.length / 2)

export const withBuilderCodes = (data: Hex, digits: string): Hex => `${data}${digits}`

const schema = '02'
const marker = '8021'.repeat(8)

const isCode = (value: unknown): value is string => typeof value === 'string' && builderCodeForm.test(value)

/** The length must be below 256. */
const head = (majorType: number, length: number): string =>
  length < 24 ? byte((majorType << 5) | length) : byte((majorType << 5) | 24) + byte(length)

const text = (code: string): string => head(3, code.length) + Buffer.from(code, 'ascii').toString('hex')

const byte = (value: number): string => value.toString(16).padStart(2, '0')
