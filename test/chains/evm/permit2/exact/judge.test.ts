import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  multicall3Abi,
  pad,
  parseAbi,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { judgeForeignExecution } from '../../../../../src/chains/evm/permit2/exact/judge.js'
import type { Log, Receipt } from '../../../../../src/chains/evm/rpc/wireShapes.js'
import { randomAddress, randomHex } from '../../../../support/evm/authorization.js'
import { multicall3Address, usdcAbi } from '../../../../support/evm/localChain.js'
import { exactProxyAddress } from '../../../../support/evm/permit2.js'

const proxyAbi = parseAbi([
  'struct TokenPermissions { address token; uint256 amount; }',
  'struct PermitTransferFrom { TokenPermissions permitted; uint256 nonce; uint256 deadline; }',
  'struct Witness { address to; uint256 validAfter; }',
  'struct EIP2612Permit { uint256 value; uint256 deadline; bytes32 r; bytes32 s; uint8 v; }',
  'function settle(PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'function settleWithPermit(EIP2612Permit permit2612, PermitTransferFrom permit, address owner, Witness witness, bytes signature)',
  'event Settled()',
])
const [transferTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'Transfer' })
const [usedTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'AuthorizationUsed' })
const [settledTopic = '0x'] = encodeEventTopics({ abi: proxyAbi, eventName: 'Settled' })

const permit = {
  token: randomAddress(),
  amount: 10_000n,
  nonce: BigInt(randomHex(32)),
  deadline: 2_000_000_000n,
  from: randomAddress(),
  to: randomAddress(),
  validAfter: 0n,
}
const other = { ...permit, nonce: BigInt(randomHex(32)) }

const argumentsOf = ({ token, amount, nonce, deadline, from, to, validAfter }: typeof permit) =>
  [{ permitted: { token, amount }, nonce, deadline }, from, { to, validAfter }, '0x1234'] as const
const settle = (terms: typeof permit): Hex =>
  encodeFunctionData({ abi: proxyAbi, functionName: 'settle', args: argumentsOf(terms) })
const settleWithPermit = (terms: typeof permit): Hex => {
  const permit2612 = { value: 1n, deadline: 2n, r: randomHex(32), s: randomHex(32), v: 27 }
  return encodeFunctionData({
    abi: proxyAbi,
    functionName: 'settleWithPermit',
    args: [permit2612, ...argumentsOf(terms)],
  })
}
const nest = (...callData: readonly Hex[]): Hex =>
  encodeFunctionData({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    args: [callData.map((data) => ({ target: permit.to, allowFailure: true, callData: data }))],
  })

const transfer = (change: Partial<typeof permit> = {}): Log => {
  const { token, from, to, amount } = { ...permit, ...change }
  const data = encodeAbiParameters([{ type: 'uint256' }], [amount])
  return { address: token, topics: [transferTopic, pad(from), pad(to)], data }
}
const settled: Log = { address: exactProxyAddress, topics: [settledTopic], data: '0x' }
const used: Log = { address: permit.token, topics: [usedTopic, pad(permit.from), randomHex(32)], data: '0x' }
const foreign: Log = { address: randomAddress(), topics: [randomHex(32)], data: '0x' }

const judge = (to: Hex, input: Hex, logs: readonly Log[], status = true) => {
  const receipt: Receipt = {
    transactionHash: randomHex(32),
    blockHash: randomHex(32),
    blockNumber: 1n,
    status,
    logs: [...logs],
  }
  return judgeForeignExecution(receipt, { to, input }, permit)
}

describe('judgeForeignExecution', () => {
  it.each<[string, Hex, readonly Log[], boolean, string]>([
    ['a direct call with its transfer', settle(permit), [transfer(), settled], true, 'paid'],
    ['a call with an EIP-2612 permit', settleWithPermit(permit), [transfer(), settled], true, 'paid'],
    ['a direct call of a token that emits nothing', settle(permit), [settled], true, 'unpaid'],
    ['a direct call of a token that pays less', settle(permit), [transfer({ amount: 1n })], true, 'unpaid'],
    ['a reverted call', settle(permit), [transfer(), settled], false, 'unpaid'],
  ])('of the proxy, with %s', (_what, input, logs, status, judgement) => {
    expect(judge(exactProxyAddress, input, logs, status)).toBe(judgement)
  })

  it.each<[string, Hex, readonly Log[], string]>([
    ['its transfer', nest(settle(permit)), [transfer(), settled], 'paid'],
    ['events of other contracts between', nest(settle(permit)), [transfer(), foreign, settled], 'paid'],
    [
      'two permits of equal terms and two transfers',
      nest(settle(permit), settle(other)),
      [transfer(), settled, transfer(), settled],
      'paid',
    ],
    [
      'two permits of equal terms and one transfer',
      nest(settle(permit), settle(other)),
      [transfer(), settled],
      'unknown',
    ],
    [
      'two permits of equal terms, and a transfer that the proxy did not make',
      nest(settle(permit), settle(other)),
      [transfer(), transfer(), settled],
      'unknown',
    ],
    ['a transfer that the proxy did not make', nest(settle(permit)), [transfer()], 'unknown'],
    [
      'a transfer of an EIP-3009 payment before an event of the proxy',
      nest(settle(permit)),
      [used, transfer(), settled],
      'unknown',
    ],
    [
      'a transfer of other terms',
      nest(settle(permit)),
      [transfer({ to: randomAddress() }), settled],
      'unknown',
    ],
    [
      'a transfer that the proxy did not make, before one of another token that it made',
      nest(settle(permit)),
      [transfer(), transfer({ token: randomAddress() }), settled],
      'unknown',
    ],
    [
      'an EIP-3009 payment and a transfer of another token before an event of the proxy',
      nest(settle(permit)),
      [used, transfer({ token: randomAddress() }), transfer(), settled],
      'unknown',
    ],
    ['the same permit twice', nest(settle(permit), settle(permit)), [transfer(), settled], 'paid'],
  ])('inside another contract, with %s', (_what, input, logs, judgement) => {
    expect(judge(multicall3Address, input, logs)).toBe(judgement)
  })
})
