import { encodeAbiParameters, encodeEventTopics, type Hex, keccak256, numberToHex, pad, toBytes } from 'viem'
import { describe, expect, it } from 'vitest'
import {
  createJudge,
  judgeForeignReceipt,
  judgeSharedReceipt,
  readJudge,
} from '../../../../src/chains/evm/exact/judge.js'
import { createRpc, type LogFilter, type Rpc } from '../../../../src/chains/evm/rpc/rpc.js'
import type { Log, Receipt } from '../../../../src/chains/evm/rpc/wireShapes.js'
import { formatAuthorizationId } from '../../../../src/chains/evm/tokens/authorizations.js'
import { judgeReceipt } from '../../../../src/chains/evm/tokens/erc20.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'
import { usdcAbi } from '../../../support/evm/localChain.js'
import { settlement } from '../../../support/memoryJournal.js'

const [transferTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'Transfer' })
const [usedTopic = '0x'] = encodeEventTopics({ abi: usdcAbi, eventName: 'AuthorizationUsed' })
const cancelledTopic = keccak256(toBytes('AuthorizationCanceled(address,bytes32)'))
const expected = { asset: randomAddress(), from: randomAddress(), to: randomAddress(), value: 10_000n }
const nonce = randomHex(32)

const transfer = (change: Partial<typeof expected> = {}): Log => {
  const { asset, from, to, value } = { ...expected, ...change }
  const data = encodeAbiParameters([{ type: 'uint256' }], [value])
  return { address: asset, topics: [transferTopic, pad(from), pad(to)], data }
}
const use = (of: Hex = nonce, from: Hex = expected.from): Log => ({
  address: expected.asset,
  topics: [usedTopic, pad(from), of],
  data: '0x',
})
const receipt = (logs: readonly Log[], status = true): Receipt => ({
  transactionHash: randomHex(32),
  blockHash: randomHex(32),
  blockNumber: 1n,
  status,
  logs: [...logs],
})

describe('judgeReceipt', () => {
  it.each<[string, readonly Log[], boolean, string]>([
    ['the transfer', [use(), transfer()], true, 'paid'],
    [
      'the transfer among other events',
      [transfer({ value: 1n }), transfer(), transfer({ to: randomAddress() })],
      true,
      'paid',
    ],
    ['no log', [], true, 'unpaid'],
    ['a use without a transfer', [use()], true, 'unpaid'],
    ['a lower value', [transfer({ value: 9_999n })], true, 'unpaid'],
    ['a higher value', [transfer({ value: 10_001n })], true, 'unpaid'],
    ['another recipient', [transfer({ to: randomAddress() })], true, 'unpaid'],
    ['another payer', [transfer({ from: randomAddress() })], true, 'unpaid'],
    ['a transfer of another token', [transfer({ asset: randomAddress() })], true, 'unpaid'],
    ['the transfer of a reverted transaction', [transfer()], false, 'reverted'],
    [
      'an event with another signature',
      [{ ...transfer(), topics: [randomHex(32), pad(expected.from), pad(expected.to)] }],
      true,
      'unpaid',
    ],
    ['a value of another length', [{ ...transfer(), data: numberToHex(10_000n) }], true, 'unpaid'],
    ['a transfer whose value is indexed', [{ ...transfer(), data: '0x' }], true, 'unpaid'],
  ])('with %s', (_what, logs, status, judgement) => {
    expect(judgeReceipt(receipt(logs, status), expected)).toBe(judgement)
  })

  it('ignores letter case', () => {
    const { address, topics, data } = transfer()
    const upper = (hex: Hex): Hex => `0x${hex.slice(2).toUpperCase()}`
    const log = {
      address: upper(address),
      topics: topics.map((topic, index) => (index === 0 ? topic : upper(topic))),
      data,
    }
    expect(judgeReceipt(receipt([log]), expected)).toBe('paid')
  })
})

describe('judgeForeignReceipt', () => {
  const another = randomHex(32)
  const foreign: Log = { ...transfer(), address: randomAddress() }

  it.each<[string, readonly Log[], string]>([
    ['the use and its transfer', [use(), transfer()], 'paid'],
    ['events of other contracts between the two', [use(), foreign, transfer()], 'paid'],
    [
      'other payments before and after',
      [use(another), transfer(), use(), transfer(), transfer({ value: 1n })],
      'paid',
    ],
    ['a transfer without the use', [transfer()], 'unpaid'],
    [
      'the transfer of another authorization',
      [use(), transfer({ value: 0n }), use(another), transfer()],
      'unpaid',
    ],
    ['one transfer after two uses', [use(), use(another), transfer()], 'unpaid'],
    ['the transfer before the use', [transfer(), use()], 'unpaid'],
    ["another payer's use of the same nonce", [use(nonce, randomAddress()), transfer()], 'unpaid'],
  ])('with %s', (_what, logs, judgement) => {
    expect(judgeForeignReceipt(receipt(logs), nonce, expected)).toBe(judgement)
  })

  it('of a reverted transaction is reverted', () => {
    expect(judgeForeignReceipt(receipt([use(), transfer()], false), nonce, expected)).toBe('reverted')
  })
})

describe('judgeSharedReceipt', () => {
  const another = randomHex(32)
  const otherTerms = { to: randomAddress(), value: 7n }

  it.each<[string, readonly Log[], string]>([
    ['the use and its transfer', [use(), transfer()], 'paid'],
    ['the transfer before the use, as some tokens emit it', [transfer(), use()], 'paid'],
    [
      'the transfer before the use, and another payment of the payer in the same order',
      [transfer(otherTerms), use(another), transfer(), use()],
      'paid',
    ],
    [
      'no event of this payment',
      [use(another, randomAddress()), transfer({ from: randomAddress() })],
      'unpaid',
    ],
    ['only another payment of the payer with equal terms', [use(another), transfer()], 'unpaid'],
    ['two uses and one transfer of equal terms', [use(another), transfer(), use()], 'unpaid'],
    ['two payments of equal terms', [use(another), transfer(), use(), transfer()], 'paid'],
    ['the use, and a transfer of other terms', [use(), transfer(otherTerms)], 'unpaid'],
  ])('with %s', (_what, logs, judgement) => {
    expect(judgeSharedReceipt(receipt(logs), nonce, expected)).toBe(judgement)
  })

  it('of a reverted transaction is reverted', () => {
    expect(judgeSharedReceipt(receipt([use(), transfer()], false), nonce, expected)).toBe('reverted')
  })
})

describe('createJudge', () => {
  const at = 100n
  const query = { at, since: new Date(), policy: { confirmations: 1, isCrossChecked: false } }
  const word = (value: bigint): Hex => encodeAbiParameters([{ type: 'uint256' }], [value])
  const other = randomHex(32)

  interface World {
    /** Result of `authorizationState`; null: the call fails. */
    readonly state: Hex | null
    /** The transaction that the logs name, and its events. */
    readonly user?: readonly Log[]
    readonly hasLog?: boolean
  }

  const script = ({ state, user = [], hasLog = true }: World) => {
    const asked: { calls: unknown[]; filters: LogFilter[] } = { calls: [], filters: [] }
    const mined: Receipt = { ...receipt(user), transactionHash: other, blockNumber: 90n }
    const rpc: Rpc = {
      ...createRpc('eip155:84532', [], silentLogger),
      call: async (request) => {
        asked.calls.push(request)
        return state === null
          ? { succeeds: false, data: null, message: 'reverted' }
          : { succeeds: true, value: state }
      },
      getLogs: async (filter) => {
        asked.filters.push(filter)
        return hasLog ? [{ ...use(), transactionHash: other }] : []
      },
      getReceipt: async () => mined,
      getBlock: async (number) => ({
        number: number === 'latest' ? at : number,
        hash: mined.blockHash,
        timestamp: 0n,
      }),
    }
    return { judge: createJudge(rpc, nonce, expected), rpc, asked, mined }
  }

  it.each<[string, World, string]>([
    ['unused according to the token', { state: word(0n) }, 'unused'],
    ['unknown when the call fails', { state: null }, 'unknown'],
    ['unknown when the token returns no value', { state: '0x' }, 'unknown'],
    ['unknown when it is used and no node has the log', { state: word(1n), hasLog: false }, 'unknown'],
    ['void when it was used without the transfer, or cancelled', { state: word(1n), user: [use()] }, 'void'],
    ['paid when it was used with its own transfer', { state: word(1n), user: [use(), transfer()] }, 'paid'],
  ])('finds an authorization %s', async (_what, world, state) => {
    const { judge } = script(world)
    expect(await judge.findExecution(query)).toMatchObject({ state })
  })

  it('reads the state after the given block, and searches uses and cancellations', async () => {
    const { judge, asked } = script({ state: word(1n) })
    await judge.findExecution(query)
    expect(asked.calls).toMatchObject([{ at, to: expected.asset }])
    expect(asked.filters).toEqual([
      {
        address: expected.asset,
        topics: [[usedTopic, cancelledTopic], pad(expected.from), nonce],
        fromBlock: 0n,
        toBlock: at,
      },
    ])
  })

  it('returns the reasons of EIP-3009', () => {
    expect(script({ state: null }).judge.reasons).toEqual({
      reverted: 'invalid_exact_evm_transaction_failed',
      void: 'invalid_exact_evm_nonce_already_used',
      unpaid: 'invalid_exact_evm_transfer_event_mismatch',
      expired: 'authorization_expired_unsettled',
    })
  })

  it('requires the use as well in a shared transaction, and only the transfer in its own', () => {
    const { judge } = script({ state: null })
    expect(judge.judgeReceipt(receipt([transfer()]), false)).toBe('paid')
    expect(judge.judgeReceipt(receipt([transfer()]), true)).toBe('unpaid')
    expect(judge.judgeReceipt(receipt([use(), transfer()]), true)).toBe('paid')
  })

  it('decides the same when built from a journal row', async () => {
    const { rpc, asked } = script({ state: word(1n), user: [use(), transfer()] })
    const network = 'eip155:84532'
    const row = settlement({
      authorizationId: formatAuthorizationId({ network, asset: expected.asset, from: expected.from, nonce }),
      network,
      asset: expected.asset,
      payer: expected.from,
      payTo: expected.to,
      amount: expected.value,
      details: { nonce },
    })
    const judge = readJudge(rpc, row)
    expect(await judge.findExecution(query)).toMatchObject({ state: 'paid' })
    expect(asked.filters).toMatchObject([
      { topics: [[usedTopic, cancelledTopic], pad(expected.from), nonce] },
    ])
    expect(judge.judgeReceipt(receipt([use(), transfer()]), true)).toBe('paid')
    expect(judge.judgeReceipt(receipt([use(), transfer({ value: 1n })]), true)).toBe('unpaid')
  })
})
