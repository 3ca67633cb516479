import { describe, expect, it } from 'vitest'
import { findClaimedPayer } from '../../src/protocol/readPayment.js'

describe('the payer that a proof names', () => {
  it.each([
    ['the authorization', { authorization: { from: '0xAbc' }, from: '0xdef' }, '0xAbc'],
    ['a permit', { authorization: { owner: '0xAbc', spender: '0xdef' } }, '0xAbc'],
    ['a Permit2 authorization', { permit2Authorization: { from: '0xAbc' } }, '0xAbc'],
    ['the flat shape', { from: '0xAbc', nonce: '0x01' }, '0xAbc'],
  ])('is read from %s as it is written', (_, proof, payer) => expect(findClaimedPayer(proof)).toBe(payer))

  it.each([
    null,
    'text',
    [],
    {},
    { transaction: 'AAAA' },
    { authorization: {}, from: 7 },
    { authorization: { from: '' } },
    { authorization: { owner: '' } },
    { authorization: { from: 7, owner: '0xAbc' } },
    { authorization: { from: 'two words' } },
    { authorization: { from: 'a'.repeat(257) } },
    { authorization: { from: 'a\u0000b' } },
  ])('is absent from %j', (proof) => expect(findClaimedPayer(proof)).toBeNull())
})
