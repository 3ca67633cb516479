import { zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Answer } from './answers.js'
import type { Books } from './audit.js'
import { judgeAnswers } from './judgeAnswers.js'
import type { Habit, Payment } from './payments.js'
import { createRandom } from './random.js'

const authorizationId = 'eip155:84532/0xa/0xb/0xc'
const recordedAt = 1_000

const payment = (habit: Habit): Payment => ({
  name: 'r1p1',
  habit,
  payerKey: '0x01',
  nonce: '0x02',
  amount: 1n,
  recipient: zeroAddress,
  startsAtMs: 0,
  first: 0,
  random: createRandom(1),
  body: '{}',
  payer: zeroAddress,
  authorizationId,
})

/** The books of a payment that was recorded at `recordedAt` and paid, or of one of which nothing is known. */
const books = (isPaid: boolean): Books => ({
  settlements: isPaid
    ? [
        {
          id: 'row-1',
          authorization_id: authorizationId,
          pay_to: zeroAddress,
          amount: 1n,
          state: 'confirmed',
          transaction: '0x7',
          transactions: ['0x7'],
          reason: null,
          consumed_by: null,
          created_at: new Date(recordedAt),
          recorded_at: new Date(recordedAt),
          closed_at: new Date(recordedAt),
        },
      ]
    : [],
  broadcasts: isPaid
    ? [{ transaction: '0x7', signer: null, nonce: null, recorded_at: new Date(recordedAt) }]
    : [],
  facts: new Map([
    [authorizationId, { isUsed: isPaid, use: isPaid ? { transaction: '0x7', isPaid } : null }],
  ]),
  mined: [],
})

const answer = (told: object, changes: Partial<Answer> = {}): Answer => ({
  payment: 'r1p1',
  authorizationId,
  instance: 'A',
  key: null,
  consumer: 'request 1',
  sentAt: recordedAt + 1,
  receivedAt: recordedAt + 2,
  status: 200,
  text: JSON.stringify({ transaction: '', ...told }),
  ...changes,
})

const success = { success: true, transaction: '0x7' }
const failure = { success: false, errorReason: 'invalid_exact_evm_nonce_already_used' }
const pending = { success: false, errorReason: 'settlement_pending' }
const duplicate = { success: false, errorReason: 'duplicate_settlement' }
const other = { consumer: 'request 2' }
const keyed = { key: 'k', consumer: 'k' }
const later = { ...keyed, sentAt: recordedAt + 3 }

describe('answers about a payment that moved money', () => {
  const rules = (habit: Habit, ...answers: readonly Answer[]) =>
    judgeAnswers([payment(habit)], answers, books(true)).map(({ rule }) => rule)

  it.each([
    ['one success', 'once', [answer(success)]],
    ['success for one consumer, told twice', 'keyed', [answer(success, keyed), answer(success, later)]],
    ['success for one, duplicate for the other', 'twins', [answer(success), answer(duplicate, other)]],
    ['pending', 'once', [answer(pending)]],
    ['a refusal before anything was recorded', 'once', [answer(failure, { sentAt: recordedAt - 1 })]],
    ['a failure of ours', 'once', [answer({ code: 'SETTLEMENT_FAILED' }, { status: 500 })]],
  ] as const)('break no promise: %s', (_name, habit, answers) => {
    expect(rules(habit, ...answers)).toEqual([])
  })

  it.each([
    ['one authorization earns one success', 'twins', [answer(success), answer(success, other)]],
    ['nothing that moved money was answered failed', 'once', [answer(failure)]],
    [
      'nothing that moved money was answered failed',
      'once',
      [answer({ code: 'PREVIOUS_REQUEST_FAILED' }, { status: 409 })],
    ],
    [
      'nothing that moved money was answered failed',
      'once',
      [answer({ ...failure, settlementId: 'row-1' }, { sentAt: recordedAt - 1 })],
    ],
    ['a key tells the same again', 'keyed', [answer(success, keyed), answer(duplicate, later)]],
    ['a key tells the truth in the end', 'keyed', [answer(pending, keyed)]],
    [
      'a valid request is not called a mistake',
      'once',
      [answer({ code: 'INVALID_REQUEST' }, { status: 400 })],
    ],
  ] as const)('break the promise that %s', (rule, habit, answers) => {
    expect(rules(habit, ...answers)).toEqual([rule])
  })
})

describe('answers about a payment that moved nothing', () => {
  it('may say that it failed, and must not say that it succeeded', () => {
    const judge = (told: object) => judgeAnswers([payment('once')], [answer(told)], books(false))
    expect(judge(failure)).toEqual([])
    expect(judge(success)).toMatchObject([{ rule: 'success is told of money that moved' }])
  })
})
