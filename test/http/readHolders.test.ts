import { expect, it } from 'vitest'
import { readHolders } from '../../src/http/readHolders.js'

it.each([
  ['192.0.2.1', 'anonymous', ['address 192.0.2.1']],
  ['::ffff:192.0.2.1', 'anonymous', ['address 192.0.2.1']],
  ['2001:db8:1:2:3::4', 'anonymous', ['address 2001:db8:1:2::/64', 'site 2001:db8:1::/48']],
  ['192.0.2.1', 'account-1', ['address 192.0.2.1', 'account account-1']],
  [
    '2001:db8:1:2:3::4',
    'account-1',
    ['address 2001:db8:1:2::/64', 'site 2001:db8:1::/48', 'account account-1'],
  ],
])('what %s occupies as %s is held by its network, its site and its account', (ip, caller, holders) => {
  expect(readHolders({ ip, caller })).toEqual(holders)
})
