import { describe, expect, it } from 'vitest'
import { createAddressBlocks } from '../../src/platform/addressBlocks.js'

const { normalize, include } = createAddressBlocks()

describe('an address or block', () => {
  it.each([
    ['10.0.0.1', '10.0.0.1'],
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['10.1.2.3/32', '10.1.2.3'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['192.168.1.129/25', '192.168.1.128/25'],
    ['2001:DB8:0:0::1', '2001:db8::1'],
    ['2001:db8:ffff::/33', '2001:db8:8000::/33'],
    ['::/0', '::/0'],
    ['::1', '::1'],
    ['::ffff:10.0.0.1', '10.0.0.1'],
    ['::ffff:a00:1', '10.0.0.1'],
    ['::ffff:10.1.2.3/104', '10.0.0.0/8'],
  ])('%s is normalized to %s', (text, written) => expect(normalize(text)).toBe(written))

  it.each([
    ...['', ' ', 'localhost', '10.0.0', '10.0.0.256', '010.0.0.1', '0x7f.0.0.1', '2130706433', '1e3'],
    ...['10.0.0.1/33', '10.0.0.1/-1', '10.0.0.1/', '10.0.0.1/08', '10.0.0.1/8/8', '10.0.0.1/255.0.0.0'],
    ...['::1/129', 'fe80::1%eth0', ':::', '1::2::3', '12345::', '::ffff:10.0.0.1/95', '[::1]', '10.0.0.1:80'],
    ...['10.0.0.1\n', '10.0.0.1 ', '１０.0.0.1', '*', '10.*.0.0', '10.0.0.1-10.0.0.9', 'x'.repeat(10_000)],
  ])('%j is invalid', (text) => expect(normalize(text)).toBeNull())
})

describe('blocks', () => {
  it.each([
    ['10.0.0.0/8', '10.255.0.1', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.1', '::ffff:10.0.0.1', true],
    ['10.0.0.1', '::FFFF:0A00:0001', true],
    ['10.0.0.1', '10.0.0.2', false],
    ['2001:db8::/32', '2001:db8:1::1', true],
    ['2001:db8::/32', '2001:db9::1', false],
    ['::/0', '10.0.0.1', false],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['10.0.0.0/8', '', false],
    ['10.0.0.0/8', 'unknown', false],
    ['10.0.0.0/8', '10.1', false],
  ])('%s contains %s: %s', (block, address, isIn) => expect(include([block], address)).toBe(isIn))

  it('contain an address if any of them does', () => {
    const blocks = ['10.0.0.1', '192.168.0.0/16']
    expect(['10.0.0.1', '192.168.7.7', '10.0.0.2'].map((address) => include(blocks, address))).toEqual([
      true,
      true,
      false,
    ])
    expect(include([], '10.0.0.1')).toBe(false)
  })
})
