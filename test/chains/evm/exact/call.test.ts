import fc from 'fast-check'
import { encodeFunctionData, getAddress, type Hex, parseAbi } from 'viem'
import { describe, expect, it } from 'vitest'
import { encodeTransfer } from '../../../../src/chains/evm/exact/call.js'
import { encodeStateCall } from '../../../../src/chains/evm/tokens/authorizations.js'
import { encodeBalanceCall } from '../../../../src/chains/evm/tokens/erc20.js'

const abi = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function authorizationState(address authorizer, bytes32 nonce) view returns (bool)',
  'function balanceOf(address account) view returns (uint256)',
])
const hex = (length: number) =>
  fc
    .uint8Array({ minLength: length, maxLength: length })
    .map((array): Hex => `0x${Buffer.from(array).toString('hex')}`)
const address = hex(20).map((text) => getAddress(text))
const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const authorization = fc.record({
  from: address,
  to: address,
  value: uint256,
  validAfter: uint256,
  validBefore: uint256,
  nonce: hex(32),
})

describe("the token's calldata", () => {
  it('of a transfer with v, r and s matches the ABI', () => {
    const parts = fc.record({ v: fc.constantFrom(27 as const, 28 as const), r: hex(32), s: hex(32) })
    fc.assert(
      fc.property(authorization, parts, (terms, { v, r, s }) => {
        const { from, to, value, validAfter, validBefore, nonce } = terms
        const args = [from, to, value, validAfter, validBefore, nonce, v, r, s] as const
        const expected = encodeFunctionData({ abi, functionName: 'transferWithAuthorization', args })
        expect(encodeTransfer(terms, { kind: 'ecdsa', v, r, s })).toBe(expected)
      }),
    )
  })

  it('of the state and balance reads matches the ABI', () => {
    fc.assert(
      fc.property(authorization, ({ from, nonce }) => {
        const state = encodeFunctionData({ abi, functionName: 'authorizationState', args: [from, nonce] })
        expect(encodeStateCall(from, nonce)).toBe(state)
        const balance = encodeFunctionData({ abi, functionName: 'balanceOf', args: [from] })
        expect(encodeBalanceCall(from)).toBe(balance)
      }),
    )
  })
})
