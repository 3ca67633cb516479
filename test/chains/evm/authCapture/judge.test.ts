import {
  type Abi,
  encodeAbiParameters,
  encodeEventTopics,
  getAddress,
  type Hex,
  parseAbi,
  parseAbiParameters,
} from 'viem'
import { describe, expect, it } from 'vitest'
import { findDeployment, planEscrowCall } from '../../../../src/chains/evm/authCapture/contracts.js'
import {
  createJudge,
  describeCall,
  type JudgedCall,
  readJudge,
} from '../../../../src/chains/evm/authCapture/judge.js'
import { createLogMemory } from '../../../../src/chains/evm/rpc/logMemory.js'
import { createRpc, type Rpc } from '../../../../src/chains/evm/rpc/rpc.js'
import type { Log, Receipt } from '../../../../src/chains/evm/rpc/wireShapes.js'
import { silentLogger } from '../../../../src/platform/logger.js'
import { randomAddress, randomHex } from '../../../support/evm/authorization.js'
import { published, type Version } from '../../../support/evm/holds.js'
import { settlement } from '../../../support/memoryJournal.js'

/* What proves a call of the escrow: its event in a receipt, else the state of the payment. */

const struct =
  '(address operator, address payer, address receiver, address token, uint120 maxAmount, uint48 preApprovalExpiry, uint48 authorizationExpiry, uint48 refundExpiry, uint16 minFeeBps, uint16 maxFeeBps, address feeReceiver, uint256 salt)'

const eventAbis = {
  '1.1': parseAbi([
    `event PaymentAuthorized(bytes32 indexed paymentInfoHash, ${struct} paymentInfo, uint256 amount, address tokenCollector)`,
    `event PaymentCharged(bytes32 indexed paymentInfoHash, ${struct} paymentInfo, uint256 amount, address tokenCollector, uint256 feeAmount, address feeReceiver)`,
    'event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint256 feeAmount, address feeReceiver)',
    'event PaymentVoided(bytes32 indexed paymentInfoHash, uint256 amount)',
    'event PaymentRefunded(bytes32 indexed paymentInfoHash, uint256 amount, address tokenCollector)',
  ]),
  '1.0': parseAbi([
    `event PaymentCharged(bytes32 indexed paymentInfoHash, ${struct} paymentInfo, uint256 amount, address tokenCollector, uint16 feeBps, address feeReceiver)`,
    'event PaymentCaptured(bytes32 indexed paymentInfoHash, uint256 amount, uint16 feeBps, address feeReceiver)',
  ]),
}

const topicOf = (version: Version, eventName: string): Hex => {
  const abi: Abi = eventAbis[version]
  const [topic] = encodeEventTopics({ abi, eventName })
  if (typeof topic !== 'string') throw new Error('The event has no topic')
  return topic
}

const info = {
  operator: randomAddress(),
  payer: randomAddress(),
  receiver: randomAddress(),
  token: randomAddress(),
  maxAmount: 10_000n,
  preApprovalExpiry: 1_000,
  authorizationExpiry: 2_000,
  refundExpiry: 3_000,
  minFeeBps: 0,
  maxFeeBps: 100,
  feeReceiver: randomAddress(),
  salt: 7n,
}

const hash = randomHex(32)
const feeReceiver = randomAddress()

type Step = Parameters<typeof planEscrowCall>[2]

const plan = (
  step: Step,
  version: Version = '1.1',
  balances = { capturable: 0n, refundable: 0n },
): JudgedCall => {
  const deployment = findDeployment(published[version].escrow)
  if (deployment === null) throw new Error('The escrow is not published')
  const { topic, terms } = planEscrowCall(deployment, info, step)
  return {
    operation: step.operation,
    escrow: deployment.escrow,
    hash,
    operator: info.operator,
    topic,
    terms,
    amount: 'amount' in step ? step.amount : 0n,
    ...balances,
  }
}

const collector = published['1.1'].eip3009
const collecting = { amount: 10_000n, collector, collectorData: '0x00' } as const
const before = { capturable: 10_000n, refundable: 0n }
const capturing = { operation: 'capture', amount: 4_000n, fee: 40n, feeReceiver } as const
const capture = plan(capturing, '1.1', before)

const log = (
  topic: Hex,
  data: Hex,
  { at = published['1.1'].escrow, of = hash }: { at?: Hex; of?: Hex } = {},
): Log => ({
  address: at,
  topics: [topic, of],
  data,
})

const captured = (amount = 4_000n, fee = 40n, receiver = feeReceiver): Log =>
  log(
    topicOf('1.1', 'PaymentCaptured'),
    encodeAbiParameters(parseAbiParameters('uint256, uint256, address'), [amount, fee, receiver]),
  )

const collected = (eventName: 'PaymentAuthorized', amount = 10_000n, by: Hex = collector): Log =>
  log(
    topicOf('1.1', eventName),
    encodeAbiParameters(parseAbiParameters(`${struct}, uint256, address`), [info, amount, by]),
  )

const receiptOf = (logs: readonly Log[], status = true): Receipt => ({
  transactionHash: randomHex(32),
  blockHash: randomHex(32),
  blockNumber: 90n,
  status,
  logs: [...logs],
})

const silent = createRpc('eip155:1', [], silentLogger)

describe('the receipt of a transaction', () => {
  const hold = plan({ operation: 'authorize', ...collecting })
  it.each<[string, JudgedCall, readonly Log[], boolean, string]>([
    ['the hold', hold, [collected('PaymentAuthorized')], true, 'paid'],
    ['a lower hold', hold, [collected('PaymentAuthorized', 9_999n)], true, 'unpaid'],
    [
      'a hold by the other collector',
      hold,
      [collected('PaymentAuthorized', 10_000n, published['1.1'].permit2)],
      true,
      'unpaid',
    ],
    ['a reverted hold', hold, [], false, 'reverted'],
    ['the capture', capture, [captured()], true, 'paid'],
    ['a lower capture', capture, [captured(3_999n)], true, 'unpaid'],
    ['a capture with a higher fee', capture, [captured(4_000n, 41n)], true, 'unpaid'],
    ['a capture with a fee for another', capture, [captured(4_000n, 40n, randomAddress())], true, 'unpaid'],
    ['an event of another contract', capture, [{ ...captured(), address: randomAddress() }], true, 'unpaid'],
    [
      'an event of another payment',
      capture,
      [{ ...captured(), topics: [topicOf('1.1', 'PaymentCaptured'), randomHex(32)] }],
      true,
      'unpaid',
    ],
    ['an event of a hold', capture, [collected('PaymentAuthorized')], true, 'unpaid'],
    [
      'a void',
      plan({ operation: 'void' }),
      [log(topicOf('1.1', 'PaymentVoided'), encodeAbiParameters([{ type: 'uint256' }], [5n]))],
      true,
      'paid',
    ],
  ])('with %s', (_what, call, logs, status, judgement) => {
    expect(createJudge(silent, call).judgeReceipt(receiptOf(logs, status), false)).toBe(judgement)
  })

  it('is judged by the basis points of version 1.0 of the escrow', () => {
    const call = plan({ operation: 'capture', amount: 4_000n, fee: 100n, feeReceiver }, '1.0', before)
    const data = encodeAbiParameters(parseAbiParameters('uint256, uint16, address'), [
      4_000n,
      100,
      feeReceiver,
    ])
    const event = log(topicOf('1.0', 'PaymentCaptured'), data, { at: published['1.0'].escrow })
    expect(createJudge(silent, call).judgeReceipt(receiptOf([event]), false)).toBe('paid')
  })

  it('is judged from the journal row as from the call', () => {
    const row = settlement({ details: JSON.parse(JSON.stringify(describeCall(capture))) })
    const judge = readJudge(silent, row)
    expect(judge.judgeReceipt(receiptOf([captured()]), false)).toBe('paid')
    expect(judge.judgeReceipt(receiptOf([captured(3_999n)]), false)).toBe('unpaid')
    expect(judge).toMatchObject({ sender: getAddress(info.operator), isRepeatable: true })
  })
})

interface State {
  readonly isCollected: boolean
  readonly capturable: bigint
  readonly refundable: bigint
}

const untouched: State = { isCollected: true, capturable: 10_000n, refundable: 0n }

/** A chain whose state is `earlier` before block `changedIn`, and `now` from it on; `logs` are mined in block 90. */
const openChain = (
  now: State,
  {
    earlier = now,
    changedIn = 81n,
    logs = [],
    nonce = 7,
  }: { earlier?: State | null; changedIn?: bigint; logs?: readonly Log[]; nonce?: number } = {},
) => {
  const receipt = receiptOf(logs)
  const rpc: Rpc = {
    ...silent,
    logMemory: createLogMemory(),
    call: async ({ at }) => {
      const state = typeof at === 'bigint' && at < changedIn ? earlier : now
      if (state === null) return { succeeds: false, data: null, message: 'missing trie node' }
      const { isCollected, capturable, refundable } = state
      const types = parseAbiParameters('bool, uint120, uint120')
      return { succeeds: true, value: encodeAbiParameters(types, [isCollected, capturable, refundable]) }
    },
    getBlock: async (number) => ({
      number: number === 'latest' ? 100n : BigInt(number),
      hash: receipt.blockHash,
      timestamp: 1_000n,
    }),
    getReceipt: async () => receipt,
    getTransactionCount: async () => nonce,
    getLogs: async ({ topics }) =>
      logs
        .filter((each) =>
          topics.every((wanted, index) =>
            Array.isArray(wanted)
              ? wanted.some((one) => one === each.topics[index])
              : wanted == null || wanted === each.topics[index],
          ),
        )
        .map((each) => ({ ...each, transactionHash: receipt.transactionHash })),
  }
  return { rpc, transaction: receipt.transactionHash }
}

const search = {
  at: 100n,
  since: new Date(900_000),
  policy: { confirmations: 1, isCrossChecked: false },
}
const deep = { ...search, policy: { ...search.policy, confirmations: 30 } }

describe('the state of the payment', () => {
  it('leaves a hold executable until the escrow collected it', async () => {
    const hold = plan({ operation: 'authorize', ...collecting })
    const { rpc } = openChain({ isCollected: false, capturable: 0n, refundable: 0n })
    expect(await createJudge(rpc, hold).findExecution(search)).toEqual({ state: 'unused' })
  })

  it('finds a hold by its event, and none that another collector made', async () => {
    const hold = plan({ operation: 'authorize', ...collecting })
    const made = openChain(untouched, { logs: [collected('PaymentAuthorized')] })
    expect(await createJudge(made.rpc, hold).findExecution(search)).toMatchObject({ state: 'paid' })
    const others = openChain(untouched, {
      logs: [collected('PaymentAuthorized', 10_000n, published['1.1'].permit2)],
    })
    expect(await createJudge(others.rpc, hold).findExecution(search)).toEqual({ state: 'void' })
  })

  it('leaves a capture executable while the balances are those that it expects', async () => {
    const { rpc } = openChain(untouched)
    expect(await createJudge(rpc, capture).findExecution(search)).toEqual({ state: 'unused' })
  })

  const after = { isCollected: true, capturable: 6_000n, refundable: 4_000n }
  const ofOther = { transaction: randomHex(32), nonce: 7 }

  it('proves a capture by its own transaction', async () => {
    const { rpc, transaction } = openChain(after, { logs: [captured()] })
    const judge = createJudge(rpc, capture, [{ transaction, nonce: 7 }])
    expect(await judge.findExecution(search)).toMatchObject({ state: 'paid' })
  })

  it('proves a capture by the one that another program made from the balances that it expects', async () => {
    const chain = { earlier: untouched, changedIn: 90n, logs: [captured()], nonce: 8 }
    const { rpc } = openChain(after, chain)
    expect(await createJudge(rpc, capture, [ofOther]).findExecution(search)).toMatchObject({ state: 'paid' })
  })

  it('proves no capture by an equal one while its own can still be mined', async () => {
    // The service sends its own all the same: a row that is closed would stand for both.
    const { rpc } = openChain(after, { earlier: untouched, changedIn: 90n, logs: [captured()], nonce: 7 })
    expect(await createJudge(rpc, capture, [ofOther]).findExecution(search)).toEqual({ state: 'unused' })
  })

  it('proves no capture by an equal one that was made from other balances', async () => {
    const last = { isCollected: true, capturable: 5_000n, refundable: 5_000n }
    const chain = { earlier: untouched, changedIn: 90n, nonce: 8 }
    const { rpc } = openChain(last, { ...chain, logs: [captured(1_000n), captured()] })
    expect(await createJudge(rpc, capture, [ofOther]).findExecution(search)).toEqual({ state: 'unused' })
  })

  it.each([
    [
      'beside another in its block',
      { ...after, capturable: 3_000n, refundable: 7_000n },
      [captured(), captured(3_000n)],
      untouched,
    ],
    ['where no node has the balances before', after, [captured()], null],
  ] as const)('proves a capture by the events of the payment %s', async (_what, last, logs, earlier) => {
    const { rpc } = openChain(last, { earlier, changedIn: 90n, logs, nonce: 8 })
    expect(await createJudge(rpc, capture, [ofOther]).findExecution(search)).toMatchObject({ state: 'paid' })
  })

  it('leaves open what a node that lacks the newest event would show, where the state contradicts', async () => {
    const last = { isCollected: true, capturable: 10_000n, refundable: 0n }
    const { rpc } = openChain(after, { earlier: last, changedIn: 95n, logs: [captured()], nonce: 8 })
    expect(await createJudge(rpc, capture, [ofOther]).findExecution(search)).toEqual({ state: 'unknown' })
  })

  it('proves a refund by the one that another program made', async () => {
    const earlier = { isCollected: true, capturable: 0n, refundable: 10_000n }
    const refunded = { ...earlier, refundable: 9_900n }
    const refundCollector = published['1.1'].refund
    const call = plan(
      { operation: 'refund', amount: 100n, collector: refundCollector, collectorData: '0x' },
      '1.1',
      earlier,
    )
    const data = encodeAbiParameters(parseAbiParameters('uint256, address'), [100n, refundCollector])
    const logs = [log(topicOf('1.1', 'PaymentRefunded'), data)]
    const { rpc } = openChain(refunded, { earlier, changedIn: 90n, logs, nonce: 8 })
    expect(await createJudge(rpc, call, [ofOther]).findExecution(search)).toMatchObject({ state: 'paid' })
  })

  it('voids a capture of more than is held, once the block is deep enough', async () => {
    const reclaimed = { isCollected: true, capturable: 0n, refundable: 0n }
    const recent = openChain(reclaimed, { earlier: untouched })
    expect(await createJudge(recent.rpc, capture).findExecution(search)).toEqual({ state: 'void' })
    expect(await createJudge(recent.rpc, capture).findExecution(deep)).toEqual({ state: 'unknown' })
    const { rpc } = openChain(reclaimed)
    expect(await createJudge(rpc, capture).findExecution(deep)).toEqual({ state: 'void' })
  })

  it('never voids a refund: another capture would make it executable', async () => {
    const step = {
      operation: 'refund',
      amount: 100n,
      collector: published['1.1'].refund,
      collectorData: '0x',
    } as const
    const { rpc } = openChain({ isCollected: true, capturable: 0n, refundable: 0n })
    expect(await createJudge(rpc, plan(step, '1.1', before)).findExecution(search)).toEqual({
      state: 'unused',
    })
  })

  it('tells a void from a capture of everything', async () => {
    const nothing = { isCollected: true, capturable: 0n, refundable: 10_000n }
    const call = plan({ operation: 'void' })
    const voided = log(topicOf('1.1', 'PaymentVoided'), encodeAbiParameters([{ type: 'uint256' }], [5n]))
    expect(
      await createJudge(openChain(nothing, { logs: [voided] }).rpc, call).findExecution(search),
    ).toMatchObject({
      state: 'paid',
    })
    expect(
      await createJudge(openChain(nothing, { logs: [captured()] }).rpc, call).findExecution(search),
    ).toEqual({
      state: 'void',
    })
  })

  it('proves nothing where no node answers it', async () => {
    const { rpc } = openChain(untouched)
    const mute: Rpc = {
      ...rpc,
      call: async () => ({ succeeds: false, data: null, message: 'missing trie node' }),
    }
    expect(await createJudge(mute, capture).findExecution(search)).toEqual({ state: 'unknown' })
  })
})
