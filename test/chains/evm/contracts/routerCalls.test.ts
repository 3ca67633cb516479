import fc from 'fast-check'
import {
  encodeAbiParameters,
  encodeEventTopics,
  encodeFunctionData,
  type Hex,
  keccak256,
  pad,
  parseAbi,
  stringToHex,
} from 'viem'
import { describe, expect, it } from 'vitest'
import {
  createRouterBatch,
  encodeExecuteOne,
  encodeSettle,
  judgeExecuted,
  planRouterRead,
} from '../../../../src/chains/evm/contracts/routerCalls.js'
import { uptoRouterAbi } from '../../../../src/chains/evm/contracts/uptoRouterAbi.js'
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

describe('calldata of the router', () => {
  const hexOf = (minLength: number, maxLength = minLength) =>
    fc.uint8Array({ minLength, maxLength }).map((bytes): Hex => `0x${Buffer.from(bytes).toString('hex')}`)
  const address = hexOf(20)
  const uint256 = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
  const data = hexOf(0, 200)
  const encode = (
    functionName: 'executeOne' | 'execute' | 'settle' | 'routerOf',
    args: readonly unknown[],
  ) => {
    const given: object = { abi: uptoRouterAbi, functionName, args }
    return encodeFunctionData(given as Parameters<typeof encodeFunctionData>[0])
  }
  const hashOf = (callId: string) => keccak256(stringToHex(callId))
  const noId: Hex = `0x${'00'.repeat(32)}`
  const batch = createRouterBatch({ shared: router, presence: { ask: async () => true, peek: () => true } }, [
    transfer.asset,
  ])

  it('of one call is that of the general encoder', () => {
    fc.assert(
      fc.property(fc.string(), address, data, (callId, to, bytes) => {
        const call = { target: to, id: hashOf(callId), data: bytes }
        expect(encodeExecuteOne(callId, { to, data: bytes })).toBe(encode('executeOne', [call]))
      }),
    )
  })

  it('of a settlement, and of what reads the router of a recipient, is that of the general encoder', () => {
    const payment = fc.record({
      token: address,
      owner: address,
      to: address,
      maxAmount: uint256,
      amount: uint256,
      deadline: uint256,
      permitNonce: uint256,
      paymentNonce: hexOf(32),
      isBound: fc.boolean(),
      signature: data,
    })
    fc.assert(
      fc.property(payment, (given) => {
        expect(encodeSettle(given)).toBe(encode('settle', [given]))
      }),
    )
    fc.assert(
      fc.property(address, (to) => {
        expect(planRouterRead(router, to).data).toBe(encode('routerOf', [to]))
      }),
    )
  })

  it('of a batch makes each call as it is, and names those whose events name no payment', () => {
    const planned = fc.record({
      callId: fc.string(),
      form: fc.constantFrom('one', 'open', 'settle'),
      to: address,
      data,
    })
    fc.assert(
      fc.property(fc.array(planned, { minLength: 1, maxLength: 5 }), (plans) => {
        const calls = plans.map((plan) => {
          const inner = { to: plan.to, data: plan.data }
          if (plan.form === 'open') return { id: plan.callId, to: transfer.asset, data: plan.data }
          return {
            id: plan.callId,
            to: router,
            data: plan.form === 'one' ? encodeExecuteOne(plan.callId, inner) : plan.data,
          }
        })
        const made = plans.map(({ callId, form, to, data: bytes }) => {
          if (form === 'one') return { target: to, id: hashOf(callId), data: bytes }
          return form === 'open'
            ? { target: transfer.asset, id: hashOf(callId), data: bytes }
            : { target: router, id: noId, data: bytes }
        })
        const planned = batch.plan(calls)
        expect(planned).toMatchObject({ to: router, data: encode('execute', [made]) })
        expect(batch.listCalls(planned.data).map(({ made: call }) => call.data)).toEqual(
          made.map((call) => call.data),
        )
      }),
    )
  })

  it('that codes of builders follow is made without them', () => {
    const inner = { to: randomAddress(), data: randomHex(70) }
    const followed: Hex = `${encodeExecuteOne(id, inner)}${randomHex(11).slice(2)}`
    expect(batch.plan([{ id, to: router, data: followed }]).data).toBe(
      encode('execute', [[{ target: inner.to, id: hashOf(id), data: inner.data }]]),
    )
  })
})
