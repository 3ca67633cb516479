import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256, pad, parseAbi, stringToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { judgeExecuted } from '../../../../src/chains/evm/permit2/routerCall.js'
import type { Log } from '../../../../src/chains/evm/rpc/rpc.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'

const abi = parseAbi([
  'event Executed(bytes32 indexed id)',
  'event Transfer(address indexed from, address indexed to, uint256 value)',
])
const router = randomAddress()
const id = 'eip155:84532/0x00/0x01/0x02'
const transfer = { asset: randomAddress(), from: randomAddress(), to: randomAddress(), value: 5n }

const executed = (ofId = id, address: Hex = router): Log => {
  const [topic = '0x'] = encodeEventTopics({ abi, eventName: 'Executed' })
  return { address, topics: [topic, keccak256(stringToHex(ofId))], data: '0x' }
}
const moved = (change: Partial<typeof transfer> = {}): Log => {
  const { asset, from, to, value } = { ...transfer, ...change }
  const [topic = '0x'] = encodeEventTopics({ abi, eventName: 'Transfer' })
  return {
    address: asset,
    topics: [topic, pad(from), pad(to)],
    data: encodeAbiParameters([{ type: 'uint256' }], [value]),
  }
}

const judge = (logs: readonly Log[], status = true) =>
  judgeExecuted(
    { transactionHash: randomHex(32), blockHash: randomHex(32), blockNumber: 1n, status, logs: [...logs] },
    { router, id, transfer },
  )

describe("the router's receipt", () => {
  it.each<[string, readonly Log[], boolean, 'paid' | 'unpaid' | null]>([
    ['its transfer and its event', [moved(), executed()], true, 'paid'],
    ['another payment before it', [moved(), executed('other'), moved(), executed()], true, 'paid'],
    ['an event without its transfer', [executed()], true, 'unpaid'],
    ['a transfer of other terms', [moved({ value: 4n }), executed()], true, 'unpaid'],
    ['the equal transfer of another payment only', [moved(), executed('other'), executed()], true, 'unpaid'],
    ['a transfer after its event', [executed(), moved(), executed('other')], true, 'unpaid'],
    ['the equal payment of another permit', [moved(), executed('other')], true, null],
    ['an event of another contract', [moved(), executed(id, randomAddress())], true, null],
    ['a reverted transaction', [moved(), executed()], false, null],
  ])('with %s', (_what, logs, status, judgement) => {
    expect(judge(logs, status)).toBe(judgement)
  })
})
