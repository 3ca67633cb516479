import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { DirectTransfer, LookUp } from '../../../src/schemes/exactDirect/directChain.js'
import { judge, type Terms } from '../../../src/schemes/exactDirect/judge.js'

const now = new Date('2026-01-01T12:00:00Z')
const secondsAgo = (seconds: number) => new Date(now.getTime() - seconds * 1_000)

const terms: Terms = {
  asset: 'gold',
  from: 'alice',
  to: 'bob',
  amount: 100n,
  isExact: false,
  memo: null,
  notBefore: secondsAgo(60),
  notAfter: null,
}

const paid: DirectTransfer = { asset: 'gold', from: 'alice', to: 'bob', amount: 100n, memo: null }

const successful = (transfers: readonly DirectTransfer[], includedAt = secondsAgo(10)): LookUp => ({
  state: 'successful',
  includedAt,
  transfers,
})

const reasonOf = (found: LookUp, changes: Partial<Terms> = {}): string => {
  const judgement = judge(found, { ...terms, ...changes }, now)
  return judgement.state === 'paid' ? `paid ${judgement.amount}` : `${judgement.state} ${judgement.reason}`
}

describe('an amount that is unique', () => {
  it.each<[string, bigint, string]>([
    ['exactly', 100n, 'paid 100'],
    ['with one unit more', 101n, 'refused amount_mismatch'],
    ['with one unit less', 99n, 'refused insufficient_amount'],
  ])('is paid %s: %s gives %s', (_, amount, expected) => {
    expect(reasonOf(successful([{ ...paid, amount }]), { isExact: true })).toBe(expected)
  })

  it('is what the transaction moved less what came back', () => {
    const returned = { ...paid, from: 'bob', to: 'alice', amount: 5n }
    expect(reasonOf(successful([{ ...paid, amount: 105n }, returned]), { isExact: true })).toBe('paid 100')
  })
})

describe('judge', () => {
  it.each<[string, LookUp, string]>([
    ['a transfer of the amount', successful([paid]), 'paid 100'],
    ['a transfer of more', successful([{ ...paid, amount: 101n }]), 'paid 101'],
    [
      'two transfers that add up',
      successful([
        { ...paid, amount: 60n },
        { ...paid, amount: 40n },
      ]),
      'paid 100',
    ],
    ['an unknown transaction', { state: 'missing' }, 'unknown transaction_not_found'],
    ['a transaction that is not final', { state: 'pending' }, 'unknown transaction_not_final'],
    ['a failed transaction', { state: 'failed' }, 'refused transaction_failed'],
    ['one unit less', successful([{ ...paid, amount: 99n }]), 'refused insufficient_amount'],
    ['nothing', successful([]), 'refused no_matching_transfer'],
    ['another payer', successful([{ ...paid, from: 'carol' }]), 'refused sender_mismatch'],
    ['another asset', successful([{ ...paid, asset: 'silver' }]), 'refused asset_mismatch'],
    ['another recipient', successful([{ ...paid, to: 'carol' }]), 'refused recipient_mismatch'],
    [
      'another payer and another asset',
      successful([{ ...paid, from: 'carol', asset: 'silver' }]),
      'refused no_matching_transfer',
    ],
    [
      'a transfer that is refunded in full',
      successful([paid, { ...paid, from: 'bob', to: 'alice' }]),
      'refused insufficient_amount',
    ],
    [
      'a transfer that is refunded in part',
      successful([
        { ...paid, amount: 150n },
        { ...paid, from: 'bob', to: 'alice', amount: 50n },
      ]),
      'paid 100',
    ],
    [
      'a refund in another asset',
      successful([paid, { ...paid, from: 'bob', to: 'alice', asset: 'silver' }]),
      'paid 100',
    ],
    ['a block at the age bound', successful([paid], terms.notBefore), 'paid 100'],
    ['a block before the age bound', successful([paid], secondsAgo(60.001)), 'refused transaction_too_old'],
    ['a block whose clock is ahead', successful([paid], secondsAgo(-60)), 'paid 100'],
    ['a block of the future', successful([paid], secondsAgo(-60.001)), 'unknown transaction_not_final'],
  ])('%s', (_name, found, expected) => {
    expect(reasonOf(found)).toBe(expected)
  })

  it('refuses a block after the later bound, and nothing paid where nothing is asked', () => {
    expect(reasonOf(successful([paid]), { notAfter: secondsAgo(10) })).toBe('paid 100')
    expect(reasonOf(successful([paid]), { notAfter: secondsAgo(10.001) })).toBe(
      'refused transaction_too_late',
    )
    const returned = successful([paid, { ...paid, from: 'bob', to: 'alice' }])
    expect(reasonOf(returned, { amount: 0n })).toBe('refused insufficient_amount')
  })

  it.each<[string, readonly DirectTransfer[], string]>([
    ['with the memo', [{ ...paid, memo: 'order 7' }], 'paid 100'],
    ['with another memo', [{ ...paid, memo: 'order 8' }], 'refused memo_mismatch'],
    ['without a memo', [paid], 'refused memo_mismatch'],
    [
      'of which only a part has the memo',
      [paid, { ...paid, memo: 'order 7', amount: 1n }],
      'refused insufficient_amount',
    ],
    [
      'by another payer with the memo',
      [{ ...paid, from: 'carol', memo: 'order 7' }],
      'refused sender_mismatch',
    ],
    [
      'with the memo, refunded without one',
      [
        { ...paid, memo: 'order 7' },
        { ...paid, from: 'bob', to: 'alice' },
      ],
      'refused insufficient_amount',
    ],
  ])('judges a transfer %s, where a memo is required', (_name, transfers, expected) => {
    expect(reasonOf(successful(transfers), { memo: 'order 7' })).toBe(expected)
  })

  it('never finds paid what does not add up to a positive amount between the two accounts', () => {
    const name = fc.constantFrom('alice', 'bob', 'carol')
    const transfer = fc.record({
      asset: fc.constantFrom('gold', 'silver'),
      from: name,
      to: name,
      amount: fc.bigInt({ min: 0n, max: 200n }),
      memo: fc.constantFrom(null, 'order 7'),
    })
    fc.assert(
      fc.property(
        fc.array(transfer, { maxLength: 6 }),
        fc.bigInt({ min: 1n, max: 300n }),
        (transfers, amount) => {
          let net = 0n
          for (const { asset, from, to, amount: moved } of transfers) {
            if (asset !== 'gold') continue
            if (from === 'alice' && to === 'bob') net += moved
            if (from === 'bob' && to === 'alice') net -= moved
          }
          const judgement = judge(successful(transfers), { ...terms, amount }, now)
          expect(judgement.state === 'paid').toBe(net >= amount)
          if (judgement.state === 'paid') expect(judgement.amount).toBe(net)
        },
      ),
    )
  })
})
