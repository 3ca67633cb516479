import { zeroAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Answer } from './answers.js'
import type { AuditRecords } from './audit.js'
import { checkAnswers } from './checkAnswers.js'
import type { ClientBehavior, Payment } from './payments.js'
import { createRandom } from './random.js'

const authorizationId = 'eip155:84532/0xa/0xb/0xc'
const recordedAt = 1_000

const payment = (behavior: ClientBehavior): Payment => ({
  name: 'r1p1',
  hasAccount: false,
  behavior,
  payerKey: '0x01',
  scheme: 'exact',
  nonce: '0x02',
  amount: 1n,
  recipient: zeroAddress,
  startsAtMs: 0,
  first: 0,
  random: createRandom(1),
  body: '{}',
  payer: zeroAddress,
  authorizationId,
  channel: null,
  tokenNonce: null,
})

/** Records of a payment that was recorded at `recordedAt` and paid, or of an unknown one. */
const books = (isPaid: boolean): AuditRecords => ({
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

describe('responses for a payment that moved funds', () => {
  const rules = (behavior: ClientBehavior, ...answers: readonly Answer[]) =>
    checkAnswers([payment(behavior)], answers, books(true)).map(({ rule }) => rule)

  it.each([
    ['one success', 'once', [answer(success)]],
    ['success for one consumer, twice', 'keyed', [answer(success, keyed), answer(success, later)]],
    ['success for one, duplicate for the other', 'twins', [answer(success), answer(duplicate, other)]],
    ['pending', 'once', [answer(pending)]],
    ['a rejection before anything was recorded', 'once', [answer(failure, { sentAt: recordedAt - 1 })]],
    ['an internal error', 'once', [answer({ code: 'SETTLEMENT_FAILED' }, { status: 500 })]],
  ] as const)('violate no invariant: %s', (_name, behavior, answers) => {
    expect(rules(behavior, ...answers)).toEqual([])
  })

  it.each([
    ['one authorization earns one success', 'twins', [answer(success), answer(success, other)]],
    ['no payment that moved funds was reported as failed', 'once', [answer(failure)]],
    [
      'no payment that moved funds was reported as failed',
      'once',
      [answer({ code: 'PREVIOUS_REQUEST_FAILED' }, { status: 409 })],
    ],
    [
      'no payment that moved funds was reported as failed',
      'once',
      [answer({ ...failure, settlementId: 'row-1' }, { sentAt: recordedAt - 1 })],
    ],
    ['a key returns the same result again', 'keyed', [answer(success, keyed), answer(duplicate, later)]],
    ['a key eventually returns success', 'keyed', [answer(pending, keyed)]],
    ['a valid request is not rejected', 'once', [answer({ code: 'INVALID_REQUEST' }, { status: 400 })]],
  ] as const)('violate the invariant: %s', (rule, behavior, answers) => {
    expect(rules(behavior, ...answers)).toEqual([rule])
  })
})

describe('responses for a payment that moved no funds', () => {
  it('may report failure but not success', () => {
    const judge = (told: object) => checkAnswers([payment('once')], [answer(told)], books(false))
    expect(judge(failure)).toEqual([])
    expect(judge(success)).toMatchObject([{ rule: 'success is only reported for funds that moved' }])
  })
})
