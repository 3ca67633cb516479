import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256, pad, parseAbi, stringToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { judgeExecuted } from '../../../../src/chains/evm/contracts/routerCalls.js'
import { createPermitJudge } from '../../../../src/chains/evm/permit2/judge.js'
import { createRpc } from '../../../../src/chains/evm/rpc/rpc.js'
import type { Log, Receipt } from '../../../../src/chains/evm/rpc/wireShapes.js'
import { silentLogger } from '../../../../src/platform/logger.js'
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

const receiptOf = (logs: readonly Log[], status = true): Receipt => ({
  transactionHash: randomHex(32),
  blockHash: randomHex(32),
  blockNumber: 1n,
  status,
  logs: [...logs],
})

const judge = (logs: readonly Log[], status = true) =>
  judgeExecuted(receiptOf(logs, status), { router, id, transfer })

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

describe('a transaction that is not known to carry other payments, such as a batch of an earlier router,', () => {
  const { judgeReceipt } = createPermitJudge(createRpc('eip155:84532', [], silentLogger), {
    id,
    nonce: 1n,
    transfer,
    words: '',
    router,
    reasons: {
      reverted: 'transaction_failed',
      void: 'permit2_invalid_nonce',
      unpaid: 'transfer_event_mismatch',
      expired: 'authorization_expired',
    },
    judgeTransaction: () => 'unknown',
  })

  it.each<[string, readonly Log[], 'paid' | 'unpaid']>([
    ["by the router's event", [moved(), executed()], 'paid'],
    ['never by the equal payment of another permit', [moved(), executed('other')], 'unpaid'],
    ['by its transfer where the router made no call', [moved()], 'paid'],
  ])('is judged %s', (_what, logs, judgement) => {
    expect(judgeReceipt(receiptOf(logs), false)).toBe(judgement)
  })
})
