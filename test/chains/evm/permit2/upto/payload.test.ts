import fc from 'fast-check'
import { encodeFunctionData, getAddress, type Hex, hashTypedData } from 'viem'
import { describe, expect, it } from 'vitest'
import { permit2Separator } from '../../../../../src/chains/evm/permit2/payload.js'
import { encodeCharge } from '../../../../../src/chains/evm/permit2/upto/call.js'
import {
  encodeChargeWords,
  hashUptoPermit,
  uptoProxyAbi,
} from '../../../../../src/chains/evm/permit2/upto/payload.js'
import { uptoTypedData } from '../../../../support/evm/uptoPermit2.js'

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
  facilitator: address,
  validAfter: uint256,
})

describe('a permit of upto', () => {
  it('has the digest of the general EIP-712 encoder', () => {
    fc.assert(
      fc.property(permit, fc.integer({ min: 1, max: 2 ** 31 }), (terms, chainId) => {
        const { from, token, amount, spender, nonce, deadline, to, facilitator, validAfter } = terms
        const wire = {
          from,
          permitted: { token, amount: String(amount) },
          spender,
          nonce: String(nonce),
          deadline: String(deadline),
          witness: { to, facilitator, validAfter: String(validAfter) },
        }
        expect(hashUptoPermit(terms, permit2Separator(chainId))).toBe(
          hashTypedData(uptoTypedData(chainId, wire)),
        )
      }),
    )
  })

  it("has the calldata of the proxy's settle that the general encoder makes", () => {
    const bytes = fc
      .uint8Array({ minLength: 1, maxLength: 100 })
      .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`)
    fc.assert(
      fc.property(permit, uint256, bytes, (terms, charge, signature) => {
        const { from, token, amount, nonce, deadline, to, facilitator, validAfter } = terms
        expect(encodeCharge(terms, charge, { kind: 'contract', bytes: signature })).toBe(
          encodeFunctionData({
            abi: uptoProxyAbi,
            functionName: 'settle',
            args: [
              { permitted: { token, amount }, nonce, deadline },
              charge,
              from,
              { to, facilitator, validAfter },
              signature,
            ],
          }),
        )
      }),
    )
  })

  it("appears in the proxy's calldata, after the selector, in the words that identify it and its charge", () => {
    fc.assert(
      fc.property(permit, uint256, (terms, charge) => {
        const calldata = encodeCharge(terms, charge, { kind: 'contract', bytes: '0x1234' })
        expect(calldata.startsWith(encodeChargeWords(terms, charge), 10)).toBe(true)
      }),
    )
  })
})
