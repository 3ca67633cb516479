import { describe, expect, it } from 'vitest'
import { isEmptyGasWallet, isExecutionFailure, readRevertData } from '../../../../src/chains/evm/rpc/rpc.js'
import { RpcError } from '../../../../src/chains/nodes/endpoint.js'

describe('the revert data of a call', () => {
  it.each([
    ['nothing', undefined, null],
    ['data', '0x08c379a0', '0x08c379a0'],
    ['data nested in data', { data: '0xab', message: 'x' }, '0xab'],
    ['data that is not hex', 'Reverted 0x', null],
  ])('is read from %s', (_what, data, expected) => {
    expect(readRevertData(new RpcError(-32000, 'no', data))).toBe(expected)
  })

  it('marks the error as an execution failure, whatever its message', () => {
    expect(isExecutionFailure(new RpcError(-32000, 'no', '0x08c379a0'))).toBe(true)
    expect(isExecutionFailure(new RpcError(-32000, 'no', 'not hex'))).toBe(false)
  })

  it('is not mistaken for an unfunded sender, whatever its message', () => {
    const words = 'insufficient funds for gas * price + value'
    expect(isEmptyGasWallet(new RpcError(-32000, words))).toBe(true)
    expect(isEmptyGasWallet(new RpcError(-32000, words, '0x08c379a0'))).toBe(false)
  })
})
