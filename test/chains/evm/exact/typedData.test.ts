import fc from 'fast-check'
import { bytesToHex, getAddress, hashTypedData } from 'viem'
import { describe, expect, it } from 'vitest'
import { hashAuthorization } from '../../../../src/chains/evm/exact/payload.js'
import { anyText } from '../../../support/anyText.js'
import { transferAuthorizationTypedData } from '../../../support/evm/authorization.js'

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((random) => bytesToHex(random))
const address = bytes(20).map((hex) => getAddress(hex))
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('hashAuthorization', () => {
  it('returns the EIP-712 digest that the payer signs, for any domain and fields', () => {
    fc.assert(
      fc.property(
        fc.record({
          from: address,
          to: address,
          value: uint256,
          validAfter: uint256,
          validBefore: uint256,
          nonce: bytes(32),
        }),
        fc.record({
          name: anyText(),
          version: fc.string(),
          chainId: fc.integer({ min: 1, max: 2 ** 31 }),
          verifyingContract: address,
        }),
        (message, domain) => {
          const { value, validAfter, validBefore } = message
          const wire = {
            ...message,
            value: `${value}`,
            validAfter: `${validAfter}`,
            validBefore: `${validBefore}`,
          }
          const { verifyingContract: asset, ...rest } = domain
          const expected = hashTypedData(transferAuthorizationTypedData(domain, wire))
          // Twice: the second result uses the cached separator.
          expect(hashAuthorization(message, { ...rest, asset })).toBe(expected)
          expect(hashAuthorization(message, { ...rest, asset })).toBe(expected)
        },
      ),
      { numRuns: 300 },
    )
  })

  it('bounds its cache of domains', () => {
    const message = {
      from: getAddress(`0x${'11'.repeat(20)}`),
      to: getAddress(`0x${'22'.repeat(20)}`),
      value: 1n,
      validAfter: 0n,
      validBefore: 2n,
      nonce: bytesToHex(new Uint8Array(32)),
    }
    const asset = getAddress(`0x${'33'.repeat(20)}`)
    const hashOf = (name: string) => hashAuthorization(message, { name, version: '2', chainId: 1, asset })
    const first = hashOf('token')
    const others = new Set(Array.from({ length: 1_500 }, (_, index) => hashOf(`token ${index}`)))
    expect(others.size).toBe(1_500)
    expect(hashOf('token')).toBe(first)
  })
})
