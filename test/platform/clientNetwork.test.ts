import { describe, expect, it } from 'vitest'
import { readClientNetwork, readClientNetworks } from '../../src/platform/clientNetwork.js'

describe('a client is counted', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['::FFFF:203.0.113.9', '203.0.113.9'],
    ['::ffff:cb00:7109', '203.0.113.9'],
    ['0:0:0:0:0:ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s as %s', (address, network) => {
    expect(readClientNetwork(address)).toBe(network)
  })

  it.each([
    undefined,
    '',
    'unknown',
    '203.0.113.256',
    '0x7f000001',
    '127.1',
    '1.2.3.4:443',
    'a:b',
    '::ffff:999.1.1.1',
  ])('%s as unknown', (address) => {
    expect(readClientNetwork(address)).toBe('unknown')
  })
})

describe('an IPv6 client belongs to a site', () => {
  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8::1', '2001:db8:0::/48'],
    ['::ffff:203.0.113.9', null],
    ['203.0.113.9', null],
    ['unknown', null],
  ])('%s to %s', (address, site) => {
    expect(readClientNetworks(address).site).toBe(site)
  })
})

describe('a client belongs to a region', () => {
  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8::/32'],
    ['::ffff:203.0.113.9', '203.0.113.0/24'],
    ['203.0.113.9', '203.0.113.0/24'],
    ['unknown', 'unknown'],
  ])('%s to %s', (address, region) => {
    expect(readClientNetworks(address).region).toBe(region)
  })
})
