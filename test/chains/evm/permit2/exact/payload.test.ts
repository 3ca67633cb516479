import fc from 'fast-check'
import { getAddress, type Hex, hashTypedData } from 'viem'
import { describe, expect, it } from 'vitest'
import { encodeSettle } from '../../../../../src/chains/evm/permit2/exact/call.js'
import { encodePermitWords, hashPermit } from '../../../../../src/chains/evm/permit2/exact/payload.js'
import { permit2Separator } from '../../../../../src/chains/evm/permit2/payload.js'
import { permitTypedData } from '../../../../support/evm/permit2.js'

const address = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((array): Hex => getAddress(`0x${Buffer.from(array).toString('hex')}`))
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const permit = fc.record({
  from: address,
  token: address,
  amount: uint256,
  spender: address,
  nonce: uint256,
  deadline: uint256,
  to: address,
  validAfter: uint256,
})

describe('a permit', () => {
  it('has the digest of the general EIP-712 encoder', () => {
    fc.assert(
      fc.property(permit, fc.integer({ min: 1, max: 2 ** 31 }), (terms, chainId) => {
        const { from, token, amount, spender, nonce, deadline, to, validAfter } = terms
        const wire = {
          from,
          permitted: { token, amount: String(amount) },
          spender,
          nonce: String(nonce),
          deadline: String(deadline),
          witness: { to, validAfter: String(validAfter) },
        }
        expect(hashPermit(terms, permit2Separator(chainId))).toBe(
          hashTypedData(permitTypedData(chainId, wire)),
        )
      }),
    )
  })

  it("appears in the proxy's calldata, after the selector, in the words that identify it", () => {
    fc.assert(
      fc.property(permit, (terms) => {
        const calldata = encodeSettle(terms, { kind: 'contract', bytes: '0x1234' })
        expect(calldata.startsWith(encodePermitWords(terms), 10)).toBe(true)
      }),
    )
  })
})
