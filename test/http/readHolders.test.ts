import { expect, it } from 'vitest'
import { readHolders } from '../../src/http/auth/caller.js'
import { keyOwner } from './support/app.js'

it.each([
  ['192.0.2.1', null, ['address 192.0.2.1']],
  ['::ffff:192.0.2.1', null, ['address 192.0.2.1']],
  ['2001:db8:1:2:3::4', null, ['address 2001:db8:1:2::/64', 'site 2001:db8:1::/48']],
  ['192.0.2.1', 'customer-1', ['address 192.0.2.1', 'customer customer-1']],
  [
    '2001:db8:1:2:3::4',
    'customer-1',
    ['address 2001:db8:1:2::/64', 'site 2001:db8:1::/48', 'customer customer-1'],
  ],
])('what %s occupies as %s is held by its network, its site and its customer', (ip, customer, holders) => {
  expect(readHolders({ ip, account: customer === null ? null : { ...keyOwner, customer } })).toEqual(holders)
})
