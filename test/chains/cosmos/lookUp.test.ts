import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { listTransfers } from '../../../src/chains/cosmos/lookUp.js'
import { encode } from '../../support/cosmos/protobuf.js'
import { addressOf, messageUrls } from '../../support/cosmos/transaction.js'
import { rejectionOf } from '../../support/rejectionOf.js'
import { useScene } from '../../support/useScene.js'
import { amount, openScene } from './scene.js'

const scene = useScene(openScene)
let payTo: string

beforeAll(async () => {
  payTo = await scene.addMerchant()
})
afterEach(() => scene.proxy.clearFaults())

describe('the look-up on a Cosmos chain', () => {
  it('takes three requests: the transaction with its proof, the header of its block, the sender’s account', async () => {
    const txHash = await scene.pay(payTo)
    scene.proxy.clearCalls()
    await scene.verify(scene.bodyOf(txHash, { payTo }))
    const height = scene.chain.ledger.findExecuted(txHash)?.height
    expect(scene.proxy.calls.map(({ method, params }) => [method, ...params])).toEqual([
      ['tx', { hash: Buffer.from(txHash, 'hex').toString('base64'), prove: true }],
      ['commit', { height: `${height}` }],
      ['abci_query', { path: '/cosmos.auth.v1beta1.Query/AccountInfo', data: expect.any(String) }],
    ])
  })

  it.each([
    ['no code', { tx_result: { events: [] } }],
    ['a code that is a text', { tx_result: { code: '0', events: [] } }],
    ['events that are none', { tx_result: { code: 0, events: 'none' } }],
    ['a height that is none', { height: '-1' }],
    ['bytes that are no base64', { tx: '{}' }],
  ])('is an outage, not an answer, when the node sends %s', async (_, changes) => {
    const txHash = await scene.pay(payTo)
    scene.proxy.setFault('tx', { kind: 'tamper', change: (result) => ({ ...Object(result), ...changes }) })
    expect(await rejectionOf(scene.verify(scene.bodyOf(txHash, { payTo })))).toMatchObject({
      operationalCode: 'SVC-2004',
    })
  })

  it('reads only an error about this very hash as not found', async () => {
    const txHash = await scene.pay(payTo)
    const failWith = (message: string) =>
      scene.proxy.setFault('tx', { kind: 'error', code: -32_603, message })
    failWith(`tx (${txHash}) not found`)
    const body = scene.bodyOf(txHash, { payTo })
    expect(await scene.verify(body)).toMatchObject({ reason: 'transaction_not_found' })
    for (const message of ['Internal error', 'route not found', `tx (${'F'.repeat(64)}) not found`]) {
      failWith(message)
      expect(await rejectionOf(scene.verify(body))).toMatchObject({ operationalCode: 'SVC-2004' })
    }
  })
})

const [alice, bob, carol] = [1, 2, 3].map((seed) => addressOf(new Uint8Array(33).fill(seed), 'noble'))

const transactionOf = (
  messages: readonly { readonly type_url: string; readonly value: Uint8Array }[],
  memo = '',
) =>
  Buffer.from(
    encode('TxRaw', {
      body_bytes: encode('TxBody', { messages, memo }),
      auth_info_bytes: [],
      signatures: [],
    }),
  )
const sendOf = (coins: readonly object[], to = bob) => ({
  type_url: messageUrls.send,
  value: encode('MsgSend', { from_address: alice, to_address: to, amount: coins }),
})
const transferEvent = (values: Readonly<Record<string, string>>) => ({
  type: 'transfer',
  attributes: Object.entries(values).map(([key, value]) => ({ key, value })),
})
const coin = { denom: 'uusdc', amount: '7' }
const credit = { recipient: bob ?? '', amount: '7uusdc', msg_index: '0' }

describe('the transfers of a transaction', () => {
  const list = (messages: Parameters<typeof transactionOf>[0], events: readonly object[], memo?: string) =>
    listTransfers(
      {
        bytes: transactionOf(messages, memo),
        events: events.map((event) => ({ type: '', attributes: [], ...event })),
      },
      'noble',
    )

  it('are those of its own messages that events confirm, with the memo', () => {
    const expected = { asset: 'uusdc', from: alice, to: bob, amount: 7n }
    expect(list([sendOf([coin])], [transferEvent(credit)])).toEqual([{ ...expected, memo: null }])
    expect(list([sendOf([coin])], [transferEvent(credit)], 'order-7')).toEqual([
      { ...expected, memo: 'order-7' },
    ])
  })

  it('can be of several denominations', () => {
    const coins = [coin, { denom: 'ustake', amount: '5' }]
    const events = [transferEvent({ ...credit, amount: '7uusdc,5ustake' })]
    expect(list([sendOf(coins)], events).map(({ asset, amount: each }) => [asset, each])).toEqual([
      ['uusdc', 7n],
      ['ustake', 5n],
    ])
  })

  it.each([
    ['of the fee, without a message', { recipient: credit.recipient, amount: credit.amount }],
    ['of another message', { ...credit, msg_index: '1' }],
    ['to another account', { ...credit, recipient: carol ?? '' }],
    ['of a smaller amount', { ...credit, amount: '6uusdc' }],
    ['in another denomination', { ...credit, amount: '7uusdcx' }],
    ['without an amount', { ...credit, amount: '' }],
  ])('are none with only the event %s', (_, event) => {
    expect(list([sendOf([coin])], [transferEvent(event)])).toEqual([])
  })

  it('are none if one event is to confirm two messages to the account', () => {
    const twice = { type_url: messageUrls.multiSend, value: multiSend([bob, bob]) }
    expect(list([twice], [transferEvent(credit)])).toEqual([])
    expect(list([twice], [transferEvent(credit), transferEvent(credit)])).toHaveLength(2)
  })

  it('are none with an attribute given twice, or an event of another type', () => {
    const { type, attributes } = transferEvent(credit)
    const twice = { type, attributes: [...attributes, { key: 'msg_index', value: '0' }] }
    expect(list([sendOf([coin])], [twice])).toEqual([])
    expect(list([sendOf([coin])], [{ type: 'coin_received', attributes }])).toEqual([])
  })

  it('are none of a message with several senders, or with an account of another chain', () => {
    const value = encode('MsgMultiSend', {
      inputs: [alice, carol].map((address) => ({ address, coins: [coin] })),
      outputs: [{ address: bob, coins: [coin] }],
    })
    expect(list([{ type_url: messageUrls.multiSend, value }], [transferEvent(credit)])).toEqual([])
    const foreign = addressOf(new Uint8Array(33), 'cosmos')
    expect(list([sendOf([coin], foreign)], [transferEvent({ ...credit, recipient: foreign })])).toEqual([])
  })

  it('are read up to a bound, because reading is synchronous', () => {
    const messages = Array.from({ length: 1_000 }, () => sendOf([coin]))
    const events = messages.map((_, index) => transferEvent({ ...credit, msg_index: `${index}` }))
    expect(list(messages, events)).toHaveLength(500)
    const many = { type_url: messageUrls.multiSend, value: multiSend(Array(1_000).fill(bob)) }
    expect(list([many, many], [transferEvent({ ...credit, amount: '9999999uusdc' })])).toHaveLength(500)
  })

  const multiSend = (recipients: readonly (string | undefined)[]) =>
    encode('MsgMultiSend', {
      inputs: [{ address: alice, coins: [{ ...coin, amount: '14' }] }],
      outputs: recipients.map((address) => ({ address, coins: [coin] })),
    })
})

it('counts the surplus too', async () => {
  const body = scene.bodyOf(await scene.pay(payTo, amount + 5n), { payTo })
  expect(await scene.verify(body)).toMatchObject({ isValid: true, amount: amount + 5n })
})
