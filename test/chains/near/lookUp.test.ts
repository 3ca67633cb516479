import fc from 'fast-check'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { isAuthorizedBy, listTransfers } from '../../../src/chains/near/lookUp.js'
import { transactionShapeOf } from '../../../src/chains/near/rpc.js'
import { transferCall } from '../../support/near/payment.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { useScene } from '../../support/useScene.js'
import { amount, openScene } from './scene.js'

const scene = useScene(openScene)
let payTo: string

beforeAll(async () => {
  payTo = scene.addMerchant()
})
afterEach(() => scene.proxy.clearFaults())

const pay = async () => scene.bodyOf(await scene.pay([transferCall({ to: payTo, amount })]), { payTo })

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const replace = (value: unknown, [key = '', ...rest]: readonly string[], by: unknown): unknown => {
  if (Array.isArray(value))
    return value.map((each, index) => (`${index}` === key ? set(each, rest, by) : each))
  if (!isRecord(value)) return value
  return { ...value, [key]: set(value[key], rest, by) }
}
const set = (value: unknown, path: readonly string[], by: unknown): unknown =>
  path.length === 0 ? by : replace(value, path, by)

describe('the look-up on NEAR', () => {
  it('takes three requests: the transaction, its block, the newest final block', async () => {
    const body = await pay()
    scene.proxy.clearCalls()
    await scene.verify(body)
    expect(scene.proxy.calls.map(({ method }) => method).sort()).toEqual(['block', 'block', 'tx'])
  })

  it('asks for the transaction of the sender, and never lets the node wait', async () => {
    const body = await pay()
    scene.proxy.clearCalls()
    await scene.verify(body)
    const asked = scene.proxy.calls.find(({ method }) => method === 'tx')
    expect(asked?.params).toEqual([
      {
        tx_hash: body.paymentPayload.payload.txHash,
        sender_account_id: scene.payer.id,
        wait_until: 'NONE',
      },
    ])
  })

  it.each([
    ['another hash', ['transaction', 'hash'], '8SPtuqh1t1yRRbBCXvsuAmkx8tZJjLJjtpEoFLrnPkKF'],
    ['an unknown status', ['final_execution_status'], 'VERY_FINAL'],
    ['no signer', ['transaction', 'signer_id'], null],
    ['a receipt without a status', ['receipts_outcome', '0', 'outcome', 'status'], {}],
    [
      'a receipt with two statuses',
      ['receipts_outcome', '0', 'outcome', 'status'],
      { SuccessValue: '', Failure: {} },
    ],
    ['logs that are no texts', ['receipts_outcome', '0', 'outcome', 'logs'], [1]],
    ['no block', ['transaction_outcome', 'block_hash'], null],
  ])('is an outage, not an answer, when the node reports %s', async (_, path, value) => {
    const body = await pay()
    scene.proxy.setFault('tx', { kind: 'tamper', change: (result) => replace(result, path, value) })
    expect(await rejectionOf(scene.verify(body))).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it.each([
    ['hash', '8SPtuqh1t1yRRbBCXvsuAmkx8tZJjLJjtpEoFLrnPkKF'],
    ['timestamp_nanosec', '-1'],
    ['timestamp_nanosec', 1.5],
    ['height', '7'],
  ])('is an outage when the block has another %s', async (field, value) => {
    const body = await pay()
    scene.proxy.setFault('block', {
      kind: 'tamper',
      change: (result, [params]) =>
        JSON.stringify(params).includes('block_id') ? replace(result, ['header', field], value) : result,
    })
    expect(await rejectionOf(scene.verify(body))).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it('is an outage when the node refuses for a reason of its own', async () => {
    const body = await pay()
    scene.proxy.setFault('tx', { kind: 'error', code: -32_000, message: 'Server error' })
    expect(await rejectionOf(scene.verify(body))).toMatchObject({ operationalCode: 'SVC-2004' })
  })

  it('reads a receipt that timed out in the node as not final', async () => {
    const body = await pay()
    const timeout = { name: 'HANDLER_ERROR', cause: { name: 'TIMEOUT_ERROR', info: {} }, code: -32_000 }
    scene.chain.failNext('tx', { ...timeout, message: 'Server error', data: 'Timeout' })
    expect(await scene.verify(body)).toMatchObject({ isValid: false, reason: 'transaction_not_final' })
  })
})

const receiptOf = (logs: readonly string[], status: object = { SuccessValue: '' }) => ({
  outcome: { executor_id: 'usdc.testnet', logs, status },
})

const hash = '8SPtuqh1t1yRRbBCXvsuAmkx8tZJjLJjtpEoFLrnPkKF'

const read = (receipts: readonly object[], actions: readonly unknown[] = ['CreateAccount']) => {
  const transaction = transactionShapeOf(hash).parse({
    final_execution_status: 'FINAL',
    transaction: { hash, signer_id: 'relay.testnet', receiver_id: 'alice.testnet', actions },
    transaction_outcome: { block_hash: hash, outcome: { status: { SuccessReceiptId: hash } } },
    receipts_outcome: receipts,
  })
  if (transaction === 'pending') throw new Error('It is final')
  return transaction
}

const eventOf = (changes: object = {}, data: object = {}) =>
  `EVENT_JSON:${JSON.stringify({
    standard: 'nep141',
    version: '1.0.0',
    event: 'ft_transfer',
    data: [{ old_owner_id: 'alice.testnet', new_owner_id: 'bob.testnet', amount: '7', memo: 'm', ...data }],
    ...changes,
  })}`

describe('transfer events', () => {
  it('carry the memo, and null without one', () => {
    const logs = [eventOf(), eventOf({}, { memo: null }), eventOf({}, { memo: undefined })]
    expect(listTransfers(read([receiptOf(logs)])).map(({ memo }) => memo)).toEqual(['m', null, null])
  })

  it('can hold several transfers', () => {
    const entry = { old_owner_id: 'alice.testnet', new_owner_id: 'bob.testnet' }
    const log = eventOf({
      data: [
        { ...entry, amount: '1' },
        { ...entry, amount: '2' },
      ],
    })
    expect(listTransfers(read([receiptOf([log])])).map(({ amount }) => amount)).toEqual([1n, 2n])
  })

  it.each([
    ['text before the prefix', ` ${eventOf()}`],
    ['no JSON', 'EVENT_JSON:{'],
    ['another standard', eventOf({ standard: 'nep171' })],
    ['another event', eventOf({ event: 'ft_mint' })],
    ['an amount that is a number', eventOf({}, { amount: 7 })],
    ['a negative amount', eventOf({}, { amount: '-7' })],
    ['an amount in hex', eventOf({}, { amount: '0x7' })],
    ['an amount beyond 39 digits', eventOf({}, { amount: '1'.repeat(40) })],
    ['an owner that is no account', eventOf({}, { new_owner_id: 'Bob.testnet' })],
    ['plain text of a bridged token', 'Transfer 7 from alice.testnet to bob.testnet'],
  ])('with %s are left out', (_, log) => {
    expect(listTransfers(read([receiptOf([log])]))).toEqual([])
  })

  it('of a failed receipt are left out', () => {
    const status = { Failure: { ActionError: { index: 1, kind: 'x' } } }
    expect(listTransfers(read([receiptOf([eventOf()], status)]))).toEqual([])
  })

  it('never throw, whatever a contract prints', () => {
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.json().map((json) => `EVENT_JSON:${json}`),
          ),
        ),
        (logs) => {
          for (const { amount } of listTransfers(read([receiptOf(logs)])))
            expect(amount).toBeGreaterThanOrEqual(0n)
        },
      ),
    )
  })
})

describe('a payer', () => {
  const delegate = (sender_id: string) => ({ Delegate: { delegate_action: { sender_id }, signature: '' } })

  it('is the signer, or whose delegate action was relayed', () => {
    const transaction = read([], [delegate('alice.testnet')])
    expect(isAuthorizedBy(transaction, 'relay.testnet')).toBe(true)
    expect(isAuthorizedBy(transaction, 'alice.testnet')).toBe(true)
  })

  it('is not the receiver without a delegate action, and not the sender of one for another receiver', () => {
    expect(isAuthorizedBy(read([]), 'alice.testnet')).toBe(false)
    expect(isAuthorizedBy(read([], [delegate('mallory.testnet')]), 'mallory.testnet')).toBe(false)
    expect(isAuthorizedBy(read([], [delegate('mallory.testnet')]), 'alice.testnet')).toBe(false)
  })
})
