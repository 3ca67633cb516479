import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizeSignedTransaction } from '../../src/protocol/signedTransaction.js'

const raw = '0A02'.repeat(100)
const signature = 'AB'.repeat(65)
const json = { visible: false, txID: '11', raw_data_hex: raw, raw_data: {}, signature: [signature] }
// Field 1 with 200 bytes, field 2 with 65.
const hex = `0ac801${raw.toLowerCase()}1241${signature.toLowerCase()}`

describe('normalizeSignedTransaction', () => {
  it.each<[string, unknown]>([
    ['hex', hex],
    ['hex in upper case with 0x', `0x${hex.toUpperCase()}`],
    ['JSON as an object', json],
    ['JSON as text', JSON.stringify(json)],
    ['JSON with prefixed hex', { ...json, raw_data_hex: `0x${raw}`, signature: [`0x${signature}`] }],
  ])('writes %s as lower-case hex', (_form, signedTransaction) => {
    const proof = { signedTransaction, authorization: { from: 'T1' } }
    expect(normalizeSignedTransaction(proof)).toEqual({ ...proof, signedTransaction: hex })
  })

  it('keeps every signature, so that the number of them is judged', () => {
    const signedTransaction = { ...json, signature: [signature, signature] }
    expect(normalizeSignedTransaction({ signedTransaction }).signedTransaction).toBe(
      `${hex}1241${signature.toLowerCase()}`,
    )
  })

  it.each<[string, unknown]>([
    ['no transaction', undefined],
    ['null', null],
    ['an array', [json]],
    ['text that is no hex', 'zz'],
    ['half a byte', 'abc'],
    ['JSON text of an array', '[1]'],
    ['JSON text that is cut off', JSON.stringify(json).slice(0, -1)],
    ['no raw_data_hex', { ...json, raw_data_hex: undefined }],
    ['raw_data_hex of 1,001 bytes', { ...json, raw_data_hex: 'ab'.repeat(1_001) }],
    ['no signature', { ...json, signature: [] }],
    ['six signatures', { ...json, signature: Array(6).fill(signature) }],
    ['a signature that is no text', { ...json, signature: [7] }],
    ['a signature of 67 bytes', { ...json, signature: ['ab'.repeat(67)] }],
    ['JSON text of 20 kB', JSON.stringify({ ...json, raw_data: 'x'.repeat(20_000) })],
  ])('leaves %s as it is', (_form, signedTransaction) => {
    const proof = { signedTransaction }
    expect(normalizeSignedTransaction(proof)).toBe(proof)
  })

  it('never throws, and changes nothing twice', () => {
    fc.assert(
      fc.property(fc.anything(), (signedTransaction) => {
        const once = normalizeSignedTransaction({ signedTransaction })
        expect(normalizeSignedTransaction(once)).toBe(once)
      }),
    )
  })
})
