import fc from 'fast-check'
import { getAddress, type Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { readExactProof } from '../../../../src/chains/evm/exact/payload.js'
import { formatAuthorizationId } from '../../../../src/chains/evm/tokens/authorizations.js'

const hex = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`)
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const proof = fc.record({
  signature: hex(65),
  authorization: fc.record({
    from: hex(20),
    to: hex(20),
    value: uint256.map(String),
    validAfter: uint256.map(String),
    validBefore: uint256.map(String),
    nonce: hex(32),
  }),
})
const upper = (text: string): string => `0x${text.slice(2).toUpperCase()}`

describe('readExactProof', () => {
  it('reads every valid authorization, in any letter case', () => {
    fc.assert(
      fc.property(proof, fc.boolean(), ({ signature, authorization }, inCapitals) => {
        const spell = (text: string) => (inCapitals ? upper(text) : text)
        const { from, to, nonce } = authorization
        const reading = readExactProof({
          signature: spell(signature),
          authorization: { ...authorization, from: spell(from), to: spell(to), nonce: spell(nonce) },
        })
        expect(reading).toEqual({
          proof: {
            signature,
            authorization: {
              from: getAddress(from),
              to: getAddress(to),
              value: BigInt(authorization.value),
              validAfter: BigInt(authorization.validAfter),
              validBefore: BigInt(authorization.validBefore),
              nonce,
            },
          },
        })
      }),
    )
  })

  it('names the invalid field of anything else, and never throws', () => {
    fc.assert(
      fc.property(fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true }), (anything) => {
        expect(readExactProof(anything)).toEqual({ problem: expect.stringMatching(/^payload/) })
      }),
    )
  })

  it('rejects a proof with one replaced field', () => {
    const fields = ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'] as const
    const notAField = fc
      .anything()
      .filter((value) => !(typeof value === 'number' && Number.isSafeInteger(value) && value >= 0))
      .filter((value) => typeof value !== 'string' || !/^([0-9]+|0x[0-9a-fA-F]+)$/.test(value))
    fc.assert(
      fc.property(proof, fc.constantFrom(...fields), notAField, (good, field, value) => {
        const { signature, authorization } = good
        const reading = readExactProof({ signature, authorization: { ...authorization, [field]: value } })
        expect(reading).toEqual({ problem: expect.stringContaining(`payload.authorization.${field}`) })
      }),
    )
  })
})

describe("an authorization's identity", () => {
  const key = fc.record({
    network: fc.constantFrom('eip155:1', 'eip155:84532'),
    asset: hex(20),
    from: hex(20),
    nonce: hex(32),
  })

  it('ignores letter case', () => {
    fc.assert(
      fc.property(key, ({ network, asset, from, nonce }) => {
        const id = formatAuthorizationId({ network, asset, from, nonce })
        const checksummed = { network, asset: getAddress(asset), from: getAddress(from), nonce }
        expect(formatAuthorizationId(checksummed)).toBe(id)
      }),
    )
  })

  it('differs when any part differs', () => {
    fc.assert(
      fc.property(key, key, (one, other) => {
        fc.pre(JSON.stringify(one) !== JSON.stringify(other))
        expect(formatAuthorizationId(one)).not.toBe(formatAuthorizationId(other))
      }),
    )
  })
})

describe('the identity of a payment', () => {
  it('ignores letter case', () => {
    const network = 'eip155:84532'
    expect(formatAuthorizationId({ network, asset: '0xAB', from: '0xCD', nonce: '0xEF' })).toBe(
      formatAuthorizationId({ network, asset: '0xab', from: '0xcd', nonce: '0xef' }),
    )
  })
})
