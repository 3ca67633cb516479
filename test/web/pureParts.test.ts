import { describe, expect, it } from 'vitest'
import { style } from '../../src/http/page/style.js'
import { allowLink, explorerHosts, findExplorerLink } from '../../web/src/explorers.js'
import { formatRelative, formatSeconds, formatShare, formatUnits, shorten } from '../../web/src/format.js'
import { type ListFilter, mergeChange } from '../../web/src/pages/mergeChange.js'
import { readText } from '../support/readText.js'

const hash = `0x${'ab'.repeat(32)}`

describe('links to explorers', () => {
  it('lead to the transaction, on networks that have one', () => {
    expect(findExplorerLink('eip155:84532', hash)).toBe(`https://sepolia.basescan.org/tx/${hash}`)
    expect(findExplorerLink('eip155:31337', hash)).toBeNull()
    expect(findExplorerLink('constructor', hash)).toBeNull()
  })

  it.each([
    '',
    '0x12',
    `${hash}/../../login`,
    `javascript:alert(1)//${hash}`,
    `${hash}?x=1`,
    'a'.repeat(129),
  ])('are not made of %s', (transaction) => {
    expect(findExplorerLink('eip155:84532', transaction)).toBeNull()
  })

  it.each([
    'javascript:alert(1)',
    'data:text/html,x',
    'http://basescan.org/tx/1',
    'https://basescan.org.evil.example/tx/1',
    'https://basescan.org@evil.example/tx/1',
    'https://evil@basescan.org/tx/1',
    'https://basescan.org:8443/tx/1',
    '//basescan.org/tx/1',
    'not a link',
  ])('allow no %s', (link) => {
    expect(allowLink(link)).toBeNull()
  })

  it('name each host once, in lower case', () => {
    for (const host of explorerHosts) expect(host).toBe(host.toLowerCase())
    expect(explorerHosts.size).toBeGreaterThan(10)
  })
})

describe('amounts', () => {
  it.each([
    ['10000', 6, '0.01'],
    ['1234567', 6, '1.234567'],
    ['1000000', 6, '1.00'],
    ['0', 6, '0.00'],
    ['1234567890000000', 6, '1,234,567,890.00'],
    ['1', 18, '0.000000000000000001'],
    ['42', 0, '42'],
    ['7', 1, '0.7'],
    ['<img>', 6, '<img>'],
    [`1${'0'.repeat(77)}`, 0, `100${',000'.repeat(25)}`],
  ])('%s with %i decimals is %s', (amount, decimals, shown) => {
    expect(formatUnits(amount, decimals)).toBe(shown)
  })

  it.each([
    [1, '100 %'],
    [0, '0 %'],
    [0.99999, '99.9 %'],
    [0.00001, '0.1 %'],
    [0.5, '50.0 %'],
  ])('a share of %f is %s: never all or nothing by rounding', (share, shown) => {
    expect(formatShare(share)).toBe(shown)
  })

  it('durations and times have the unit that fits', () => {
    expect([0.04, 2.34, 42, 130, 7_300].map(formatSeconds)).toEqual([
      'under 0.1 s',
      '2.3 s',
      '42 s',
      '2 min',
      '2 h',
    ])
    const now = new Date('2026-01-02T00:00:00Z')
    const ago = (seconds: number) => formatRelative(new Date(now.getTime() - seconds * 1_000), now)
    expect([3, 59, 60, 7_200, 200_000, -3_600].map(ago)).toEqual([
      'just now',
      '59 seconds ago',
      '1 minute ago',
      '2 hours ago',
      '2 days ago',
      'in 1 hour',
    ])
    expect(shorten(hash)).toBe('0xabab…abab')
    expect(shorten('short')).toBe('short')
  })
})

describe('a page of payments after an event', () => {
  const paymentOf = (number: number, status: 'pending' | 'confirmed' | 'failed' = 'confirmed') => ({
    id: `payment-${number}`,
    status,
    scheme: 'exact',
    network: 'eip155:84532',
    asset: '0xa',
    payer: '0xb',
    payTo: '0xc',
    amount: '1',
    transaction: '',
    createdAt: `2026-01-01T00:00:${String(number).padStart(2, '0')}.000Z`,
    fee: '7',
  })
  const all: ListFilter = { status: undefined, network: undefined, search: undefined, isFirst: true }
  const page = {
    settlements: [paymentOf(30, 'pending'), paymentOf(20), paymentOf(10)],
    nextCursor: 'payment-10',
  }
  const idsAfter = (changed: ReturnType<typeof paymentOf>, filter: ListFilter = all) =>
    mergeChange(page, changed, filter).settlements.map(({ id, status }) => `${id} ${status}`)
  const before = ['payment-30 pending', 'payment-20 confirmed', 'payment-10 confirmed']

  it('has the new state in the same place, and keeps the fee', () => {
    expect(idsAfter(paymentOf(30))).toEqual(['payment-30 confirmed', ...before.slice(1)])
    expect(mergeChange(page, paymentOf(30), all).settlements[0]?.fee).toBe('7')
  })

  it('has a new payment by its time, on the first page only', () => {
    expect(idsAfter(paymentOf(25))).toEqual([before[0], 'payment-25 confirmed', ...before.slice(1)])
    expect(idsAfter(paymentOf(40), { ...all, isFirst: false })).toEqual(before)
    expect(idsAfter(paymentOf(40), { ...all, search: '0xb' })).toEqual(before)
  })

  it('leaves what is older than the page to the next page, if there is one', () => {
    expect(idsAfter(paymentOf(5))).toEqual(before)
    const last = mergeChange({ settlements: page.settlements }, paymentOf(5), all)
    expect(last.settlements.map(({ id }) => id)).toContain('payment-5')
  })

  it('loses a payment that matches the filter no longer', () => {
    expect(idsAfter(paymentOf(30), { ...all, status: 'pending' })).toEqual(before.slice(1))
    expect(idsAfter(paymentOf(40), { ...all, network: 'tron:nile' })).toEqual(before)
  })

  it('is bounded, and the next page begins after the last row that is kept', () => {
    const settlements = Array.from({ length: 200 }, (_, index) => ({
      ...paymentOf(0),
      id: `row-${index}`,
      createdAt: new Date(Date.UTC(2026, 0, 1) - index * 1_000).toISOString(),
    }))
    const next = mergeChange({ settlements }, paymentOf(40), all)
    expect(next.settlements).toHaveLength(200)
    expect(next.settlements[0]?.id).toBe('payment-40')
    expect(next.nextCursor).toBe('row-198')
  })
})

describe('the colours', () => {
  const tokens = readText('web/src/styles/tokens.css').replaceAll(/\s+/g, ' ')

  it('are those of the page at /', () => {
    const declared = [...style.matchAll(/--([a-z-]+): ([^;]+);/g)].filter(([, name]) => name !== 'tooth')
    expect(declared.length).toBeGreaterThan(20)
    for (const [, name, value] of declared) expect(tokens).toContain(`--${name}: ${value};`)
  })
})
