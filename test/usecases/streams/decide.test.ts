import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { errorStatus } from '../../../src/errors.js'
import type { Stream } from '../../../src/ports/streamStore.js'
import { streamEvents, streamStates } from '../../../src/protocol/streams.js'
import { decide, type StreamCommand } from '../../../src/usecases/streams/decide.js'
import { readCodeSpans, readTable } from '../../support/markdown.js'
import { streamOf } from '../../support/streamOf.js'

const page = readFileSync(new URL('../../../docs/streams.md', import.meta.url), 'utf8')
const now = new Date('2026-01-01T00:10:00Z')
const later = new Date('2026-01-01T01:00:00Z')
const attendAt = new Date('2026-01-01T02:00:00Z')

const ended = (state: 'closed' | 'failed' | 'expired'): Partial<Stream> => ({ state, closedAt: now })

const inState: Readonly<Record<(typeof streamStates)[number], Partial<Stream>>> = {
  active: { state: 'active' },
  paused: { state: 'paused' },
  closing: { state: 'closing', finalAmount: 500n, attendAt },
  closed: { ...ended('closed'), finalAmount: 500n, settledAmount: 500n, transaction: '0xab' },
  failed: { ...ended('failed'), finalAmount: 500n, reason: 'permit_nonce_mismatch' },
  expired: ended('expired'),
}

const resultOf = (stream: Stream, command: StreamCommand, at = now): string => {
  const decision = decide(stream, command, at)
  return decision.state === 'refused' ? decision.refusal.code : decision.stream.state
}

const columns: Readonly<Record<string, { readonly amount: bigint; readonly command: StreamCommand }>> = {
  update: { amount: 500n, command: { kind: 'update', amount: 600n, sequence: null, voucher: null } },
  pause: { amount: 500n, command: { kind: 'pause' } },
  resume: { amount: 500n, command: { kind: 'resume' } },
  close: { amount: 500n, command: { kind: 'close', finalAmount: null, attendAt } },
  'end, something used': { amount: 500n, command: { kind: 'end' } },
  'end, nothing used': { amount: 0n, command: { kind: 'end' } },
}

describe('the states of a stream, as docs/streams.md has them', () => {
  const rows = readTable(page, 'end, something used')

  it('has a row for each state, and one more while it is over', () => {
    const states = rows.map(({ Status = '' }) => readCodeSpans(Status)[0])
    expect(new Set(states)).toEqual(new Set(streamStates))
    expect(rows).toHaveLength(streamStates.length + 2)
  })

  const cells = rows.flatMap((row) =>
    Object.entries(columns).map(([column, given]) => {
      const [expected = 'nothing'] = readCodeSpans(row[column] ?? '')
      return [row.Status ?? '', column, expected, given] as const
    }),
  )

  it.each(cells)('%s: %s gives %s', (status, column, expected, { amount, command }) => {
    const state = streamStates.find((each) => status.startsWith(`\`${each}\``)) ?? 'active'
    const isOver = status.endsWith('time over') || column.startsWith('end')
    const stream = streamOf({ amount, ...inState[state] })
    expect(resultOf(stream, command, isOver ? later : now)).toBe(expected)
  })

  it('names every error code that a command can have', () => {
    const named = readCodeSpans(page).filter((span) => Object.hasOwn(errorStatus, span))
    for (const code of [
      'STREAM_NOT_ACTIVE',
      'STREAM_EXPIRED',
      'INVALID_SEQUENCE',
      'INVALID_AMOUNT',
      'AMOUNT_EXCEEDED',
      'INVALID_VOUCHER',
      'PAYMENT_REFUSED',
      'QUOTA_EXCEEDED',
    ]) {
      expect(named).toContain(code)
    }
  })

  it('lists every event', () => {
    const listed = readTable(page, 'Event').map(({ Event = '' }) => readCodeSpans(Event)[0])
    expect(listed).toEqual([...streamEvents])
  })

  it('does not end before its time', () => {
    expect(resultOf(streamOf({ amount: 5n }), { kind: 'end' }, new Date(later.getTime() - 1))).toBe('active')
  })
})

describe('an update, as docs/streams.md has it', () => {
  const seen = streamOf({ amount: 500n, sequence: 5, updates: 3 })
  const signed = { ...seen, voucher: '0x12' }
  const update = (amount: bigint, sequence: number | null, voucher: string | null = null): StreamCommand => ({
    kind: 'update',
    amount,
    sequence,
    voucher,
  })
  const examples: Readonly<Record<string, readonly [Stream, StreamCommand]>> = {
    'lower sequence': [seen, update(600n, 4)],
    'same sequence, another amount': [seen, update(600n, 5)],
    'same sequence, same amount': [seen, update(500n, 5)],
    'no sequence, same amount': [seen, update(500n, null)],
    'lower amount': [seen, update(499n, 6)],
    'above the maximum': [seen, update(10_001n, 6)],
    'no voucher, though the stream has one': [signed, update(600n, 6)],
    'higher sequence': [seen, update(600n, 9)],
    'higher sequence, same amount': [seen, update(500n, 9)],
    'no sequence, higher amount': [seen, update(10_000n, null)],
  }
  const rows = readTable(page, 'Update')

  it('has an example for each row', () => {
    expect(rows.map(({ Update }) => Update)).toEqual(Object.keys(examples))
  })

  it.each(rows.map((row) => [row.Update ?? '', row.Answer ?? ''] as const))('%s: %s', (name, answer) => {
    const [stream, command] = examples[name] ?? [seen, update(0n, null)]
    const decision = decide(stream, command, now)
    expect(decision.state === 'refused' ? `\`${decision.refusal.code}\`` : decision.state).toBe(answer)
  })

  it('counts sequences on from the last one', () => {
    expect(decide(seen, update(600n, null), now)).toMatchObject({
      state: 'changed',
      stream: { amount: 600n, sequence: 6, updates: 4, updatedAt: now },
      events: [],
    })
  })

  it('adds a voucher to the same update, which is required from then on', () => {
    expect(decide(seen, update(500n, 5, '0x34'), now)).toMatchObject({
      state: 'changed',
      stream: { voucher: '0x34', updates: 3 },
    })
    expect(decide(signed, update(500n, 5, '0x34'), now)).toMatchObject({ state: 'unchanged' })
    expect(resultOf(signed, update(500n, 5))).toBe('INVALID_VOUCHER')
  })
})

describe('a close', () => {
  const used = streamOf({ amount: 500n, sequence: 5 })
  const close = (finalAmount: bigint | null): StreamCommand => ({ kind: 'close', finalAmount, attendAt })

  const again = { ...used, ...inState.closing }
  const examples: Readonly<Record<string, readonly [Stream, bigint | null, Date]>> = {
    'final amount below what was used': [used, 499n, now],
    'final amount above the maximum': [used, 10_001n, now],
    'final amount above the last voucher': [{ ...used, voucher: '0x12' }, 501n, now],
    'final amount above what was used, time over': [used, 501n, later],
    'final amount above what was used': [used, 501n, now],
    'no final amount, time over': [used, null, later],
    'again, with the same final amount or none': [again, 500n, now],
    'again, with another final amount': [again, 501n, now],
  }
  const rows = readTable(page, 'Close')

  it('has an example for each row of docs/streams.md', () => {
    expect(rows.map(({ Close }) => Close)).toEqual(Object.keys(examples))
  })

  it.each(rows.map((row) => [row.Close ?? '', row.Answer ?? ''] as const))('%s: %s', (name, answer) => {
    const [stream, finalAmount, at] = examples[name] ?? [used, null, now]
    const decision = decide(stream, close(finalAmount), at)
    expect(decision.state === 'refused' ? `\`${decision.refusal.code}\`` : decision.state).toBe(answer)
  })

  it.each([
    ['at the last voucher', { ...used, voucher: '0x12' }, 500n, 'closing'],
    ['of a closing stream without an amount', again, null, 'closing'],
    ['of a closed stream with the same amount', { ...used, ...inState.closed }, 500n, 'closed'],
    ['of a failed stream with another amount', { ...used, ...inState.failed }, 0n, 'STREAM_NOT_ACTIVE'],
  ] as const)('%s', (_name, stream, finalAmount, expected) => {
    expect(resultOf(stream, close(finalAmount))).toBe(expected)
  })

  it('beyond its time settles what was used, not more', () => {
    expect(resultOf(used, close(null), later)).toBe('closing')
    expect(resultOf(used, close(501n), later)).toBe('STREAM_EXPIRED')
  })
})

const retry = (
  reason: Stream['reason'],
  change: Partial<Extract<StreamCommand, { kind: 'retry' }>> = {},
): StreamCommand => ({
  kind: 'retry',
  attendAt: later,
  reason,
  settlementId: null,
  isReverted: false,
  ...change,
})

describe('the settlement', () => {
  const closing = streamOf({ amount: 500n, ...inState.closing, risk: 'insufficient_funds', attempts: 2 })
  const settled = { kind: 'settled', settlementId: 'id', transaction: '0xab', settledAmount: 500n } as const

  it('ends only a stream that is closing', () => {
    expect(decide(closing, settled, now)).toMatchObject({
      stream: { state: 'closed', settledAmount: 500n, closedAt: now, attendAt: null, risk: null },
      events: [{ type: 'stream.closed' }],
    })
    const fail = { kind: 'fail', reason: 'permit_nonce_mismatch', settlementId: null } as const
    expect(decide(closing, fail, now)).toMatchObject({
      stream: { state: 'failed', reason: 'permit_nonce_mismatch', closedAt: now },
      events: [{ type: 'stream.failed' }],
    })
    for (const state of ['active', 'paused', 'closed', 'failed', 'expired'] as const) {
      const stream = streamOf(inState[state])
      expect(decide(stream, settled, now)).toEqual({ state: 'unchanged', stream })
      expect(decide(stream, fail, now).state).toBe('unchanged')
      expect(decide(stream, { kind: 'claimed', settlementId: 'id' }, now).state).toBe('refused')
    }
  })

  it('is tried again at the time it says', () => {
    expect(decide(closing, retry(null, { settlementId: 'id' }), now)).toMatchObject({
      stream: { state: 'closing', attendAt: later, attempts: 3, settlementId: 'id' },
      events: [],
    })
  })

  const twice = { refusals: 2, refusedAt: new Date(now.getTime() - 2_000) }
  const examples: Readonly<Record<string, readonly [Stream, StreamCommand]>> = {
    'proven on chain': [closing, settled],
    'sent, outcome not known': [closing, retry(null, { settlementId: 'id' })],
    'chain not reachable': [closing, retry(null)],
    'refused: funds missing': [
      { ...closing, ...twice, reason: 'insufficient_funds' },
      retry('insufficient_funds'),
    ],
    'refused: authorization cancelled or used elsewhere': [closing, retry('permit_nonce_mismatch')],
    'the same for the third time, each seconds after the last': [
      { ...closing, ...twice, reason: 'permit_nonce_mismatch' },
      retry('permit_nonce_mismatch'),
    ],
    'sent, and failed on chain': [
      { ...closing, settlementId: 'id' },
      retry('invalid_upto_evm_transaction_failed', { settlementId: 'id', isReverted: true }),
    ],
    'the same for the fifth time': [
      { ...closing, settlementId: 'id', reverts: 4 },
      retry('invalid_upto_evm_transaction_failed', { settlementId: 'id', isReverted: true }),
    ],
    'not settled until the authorization ended': [
      closing,
      { kind: 'fail', reason: 'authorization_expired_unsettled', settlementId: null },
    ],
  }
  const rows = readTable(page, 'Settlement')

  it('has an example for each row of docs/streams.md', () => {
    expect(rows.map(({ Settlement }) => Settlement)).toEqual(Object.keys(examples))
  })

  it.each(rows.map((row) => [row.Settlement ?? '', row.Status ?? ''] as const))('%s: %s', (name, status) => {
    const [stream, command] = examples[name] ?? [streamOf(), settled]
    expect(`\`${resultOf(stream, command)}\``).toBe(status)
  })

  it('is not given up by refusals that follow each other within seconds, or that differ', () => {
    const refused = (change: Partial<Stream>) =>
      decide({ ...closing, reason: 'permit_nonce_mismatch', ...change }, retry('permit_nonce_mismatch'), now)
    expect(refused({ refusals: 2, refusedAt: new Date(now.getTime() - 1_999) })).toMatchObject({
      stream: { state: 'closing', refusals: 2 },
    })
    expect(refused({ ...twice, reason: 'permit_expired' })).toMatchObject({
      stream: { state: 'closing', refusals: 1, refusedAt: now },
    })
    expect(refused({ ...twice, reason: null })).toMatchObject({ stream: { refusals: 1 } })
    const unknown = decide({ ...closing, ...twice, reason: 'permit_nonce_mismatch' }, retry(null), now)
    expect(unknown).toMatchObject({ stream: { refusals: 0, refusedAt: null } })
  })

  it('that failed on chain is counted once by attempts that waited for it together', () => {
    const command = retry('invalid_upto_evm_transaction_failed', { settlementId: 'id', isReverted: true })
    const first = decide({ ...closing, settlementId: 'id' }, command, now)
    if (first.state !== 'changed') throw new Error('The first attempt counts it')
    expect(first.stream).toMatchObject({ reverts: 1, settlementId: null })
    expect(decide(first.stream, command, now)).toMatchObject({ stream: { reverts: 1 } })
  })

  it('is not given up while one that was claimed since may still be sent', () => {
    const claimed = decide(closing, { kind: 'claimed', settlementId: 'new' }, now)
    if (claimed.state !== 'changed') throw new Error('It is closing')
    for (const settlementId of [null, 'old']) {
      const fail = { kind: 'fail', reason: 'permit_expired', settlementId } as const
      expect(decide(claimed.stream, fail, now).state).toBe('unchanged')
      const third = { ...claimed.stream, ...twice, reason: 'permit_nonce_mismatch' } as const
      expect(resultOf(third, retry('permit_nonce_mismatch', { settlementId }))).toBe('closing')
    }
    expect(resultOf(claimed.stream, { kind: 'fail', reason: 'permit_expired', settlementId: 'new' })).toBe(
      'failed',
    )
  })

  it('that finds the funds missing is an event, once', () => {
    const missing = retry('insufficient_funds')
    const first = decide({ ...closing, risk: null }, missing, now)
    expect(first).toMatchObject({
      stream: { risk: 'insufficient_funds' },
      events: [{ type: 'stream.insufficient_funds' }],
    })
    if (first.state !== 'changed') throw new Error('It is closing')
    expect(decide(first.stream, missing, now)).toMatchObject({ events: [] })
  })
})

describe('the risk of a stream', () => {
  const assess = (risk: Stream['risk']): StreamCommand => ({ kind: 'assess', risk })
  const typesOf = (stream: Stream, risk: Stream['risk']) => {
    const decision = decide(stream, assess(risk), now)
    return decision.state === 'changed' ? decision.events.map(({ type }) => type) : decision.state
  }

  it('is an event once, and once more when it is over', () => {
    expect(typesOf(streamOf(), 'insufficient_funds')).toEqual(['stream.insufficient_funds'])
    const atRisk = streamOf({ risk: 'insufficient_funds' })
    expect(typesOf(atRisk, 'insufficient_funds')).toBe('unchanged')
    expect(typesOf(atRisk, 'permit_nonce_mismatch')).toEqual([])
    expect(typesOf(atRisk, null)).toEqual(['stream.funds_restored'])
    expect(typesOf(streamOf(), null)).toBe('unchanged')
  })

  it('is of no interest once it is closing', () => {
    expect(typesOf(streamOf(inState.closing), 'insufficient_funds')).toBe('unchanged')
  })
})

describe('any commands in any order', () => {
  const command = fc.oneof(
    fc.record({
      kind: fc.constant('update' as const),
      amount: fc.bigInt(0n, 12_000n),
      sequence: fc.option(fc.integer({ min: 1, max: 20 })),
      voucher: fc.option(fc.constant('0x12')),
    }),
    fc.record({ kind: fc.constantFrom('pause' as const, 'resume' as const, 'end' as const) }),
    fc.record({
      kind: fc.constant('close' as const),
      finalAmount: fc.option(fc.bigInt(0n, 12_000n)),
      attendAt: fc.constant(attendAt),
    }),
    fc.constant({ kind: 'settled' as const, settlementId: 'id', transaction: '', settledAmount: 1n }),
    fc.constant({ kind: 'fail' as const, reason: 'permit_expired' as const, settlementId: null }),
    fc.record({ kind: fc.constant('claimed' as const), settlementId: fc.constantFrom('id', 'other') }),
    fc.record({
      kind: fc.constant('retry' as const),
      attendAt: fc.constant(attendAt),
      reason: fc.constantFrom(null, 'permit_nonce_mismatch' as const, 'insufficient_funds' as const),
      settlementId: fc.constantFrom(null, 'id', 'other'),
      isReverted: fc.boolean(),
    }),
    fc.constant({ kind: 'assess' as const, risk: 'insufficient_funds' as const }),
  )
  const order = ['active', 'paused', 'closing', 'closed', 'failed', 'expired']
  const rank = (state: string) => [0, 0, 1, 2, 2, 2][order.indexOf(state)] ?? 0

  it('never shrink amount or sequence, exceed the maximum, change a final amount, or leave an end', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(command, fc.boolean()), { maxLength: 30 }), (commands) => {
        let stream = streamOf()
        for (const [each, isLate] of commands) {
          const decision = decide(stream, each, isLate ? later : now)
          if (decision.state !== 'changed') continue
          const next = decision.stream
          expect(next.amount).toBeGreaterThanOrEqual(stream.amount)
          expect(next.amount).toBeLessThanOrEqual(next.maxAmount)
          expect(next.sequence).toBeGreaterThanOrEqual(stream.sequence)
          expect(rank(next.state)).toBeGreaterThanOrEqual(rank(stream.state))
          expect(rank(stream.state)).toBeLessThan(2)
          if (stream.finalAmount !== null) expect(next.finalAmount).toBe(stream.finalAmount)
          if (next.finalAmount !== null) {
            expect(next.finalAmount).toBeGreaterThanOrEqual(next.amount)
            expect(next.finalAmount).toBeLessThanOrEqual(next.maxAmount)
          }
          if (stream.voucher !== null) expect(next.voucher).not.toBeNull()
          stream = next
        }
      }),
    )
  })
})

describe('a stream over a channel', () => {
  const channel = { id: '0x5c', config: {}, baseline: 1_000n }
  const metered = (change: Partial<Stream> = {}) =>
    streamOf({ channel, voucher: '0x12', ceiling: 2_000n, amount: 500n, sequence: 5, ...change })
  const update = (
    amount: bigint,
    sequence: number | null = null,
    ceiling?: bigint,
  ): Extract<StreamCommand, { kind: 'update' }> => ({
    kind: 'update',
    amount,
    sequence,
    ...(ceiling === undefined ? { voucher: null } : { voucher: '0x34', ceiling }),
  })

  it.each([
    ['what the highest voucher allows', update(1_000n), { amount: 1_000n, ceiling: 2_000n, voucher: '0x12' }],
    [
      'more with a higher voucher',
      update(1_500n, 6, 2_500n),
      { amount: 1_500n, ceiling: 2_500n, voucher: '0x34' },
    ],
    [
      'a lower voucher, which changes none',
      update(600n, 6, 1_700n),
      { amount: 600n, ceiling: 2_000n, voucher: '0x12' },
    ],
    [
      'the same amount with a higher voucher',
      update(500n, 6, 2_500n),
      { amount: 500n, ceiling: 2_500n, sequence: 6 },
    ],
    [
      'the same update with a higher voucher',
      update(500n, 5, 2_500n),
      { amount: 500n, ceiling: 2_500n, sequence: 5 },
    ],
  ] as const)('takes %s', (_name, command, expected) => {
    expect(decide(metered(), command, now)).toMatchObject({ state: 'changed', stream: expected })
  })

  it.each([
    ['more than the highest voucher allows', update(1_001n), 'INVALID_VOUCHER'],
    ['more than its own voucher allows', update(1_001n, 6, 2_000n), 'INVALID_VOUCHER'],
    ['a voucher that does not cover what was used', update(600n, 6, 1_599n), 'INVALID_VOUCHER'],
    ['more than the maximum', update(10_001n, 6, 20_000n), 'AMOUNT_EXCEEDED'],
    ['a lower sequence', update(600n, 4, 2_500n), 'INVALID_SEQUENCE'],
  ] as const)('refuses %s', (_name, command, code) => {
    expect(decide(metered(), command, now)).toMatchObject({ state: 'refused', refusal: { code } })
  })

  it('is unchanged by the same update, and by a voucher that is not higher', () => {
    expect(decide(metered(), update(500n, 5), now).state).toBe('unchanged')
    expect(decide(metered(), update(500n, 5, 2_000n), now).state).toBe('unchanged')
  })

  it('takes another signature of the claim while it is closing, and no other final amount', () => {
    const closing = metered({ ...inState.closing, claimSignature: '0xaa' })
    const sign = (claimSignature: string, finalAmount: bigint | null = null) =>
      decide(closing, { kind: 'close', finalAmount, attendAt: later, claimSignature }, now)
    expect(sign('0xaa').state).toBe('unchanged')
    expect(sign('0xbb')).toMatchObject({
      state: 'changed',
      stream: { claimSignature: '0xbb', finalAmount: 500n },
    })
    expect(sign('0xbb', 600n)).toMatchObject({ refusal: { code: 'STREAM_NOT_ACTIVE' } })
    const permit = decide(
      streamOf(),
      { kind: 'close', finalAmount: null, attendAt, claimSignature: '0xaa' },
      now,
    )
    expect(permit).toMatchObject({ refusal: { code: 'INVALID_REQUEST' } })
  })

  it('that the payer empties is closed with what was used, once, and says why', () => {
    const risk = 'invalid_batch_settlement_evm_cumulative_exceeds_balance'
    const command = { kind: 'assess', risk, isEnding: true } as const
    const decision = decide(metered(), command, now)
    expect(decision).toMatchObject({
      state: 'changed',
      stream: { state: 'closing', finalAmount: 500n, attendAt: now, risk },
      events: [{ type: 'stream.insufficient_funds' }],
    })
    if (decision.state !== 'changed') throw new Error('It is not closed')
    expect(decide(decision.stream, command, later).state).toBe('unchanged')
    expect(decide(metered({ amount: 0n }), command, now)).toMatchObject({
      stream: { state: 'expired', reason: risk },
      events: [{ type: 'stream.expired' }],
    })
  })

  it('is never given up for a missing signature before its time is over', () => {
    const reason = 'invalid_batch_settlement_evm_authorizer_not_configured'
    let stream = metered(inState.closing)
    for (let at = 0; at < 9; at += 1) {
      const when = new Date(now.getTime() + at * 10_000)
      const command = { kind: 'retry', attendAt, reason, settlementId: null, isReverted: false } as const
      const decision = decide(stream, command, when)
      if (decision.state !== 'changed') throw new Error('The attempt is not counted')
      stream = decision.stream
    }
    expect(stream).toMatchObject({ state: 'closing', reason, voucher: '0x12', ceiling: 2_000n })
  })
})
