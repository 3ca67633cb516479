import { expect, it } from 'vitest'
import { findGroup } from '../../../../src/stores/postgres/database/measuredPool.js'

it.each([
  ['begin', 'transaction'],
  ['set local statement_timeout = 0', 'transaction'],
  ['select id from settlements where id = $1', 'find'],
  ['update settlements set state = $1', 'settlement'],
  ['insert into open_settlements values ($1)', 'settlement'],
  ['insert into reservations values ($1)', 'hold'],
  ['select from signer_lanes', 'lane'],
  ['update webhook_deliveries set state = $1', 'webhook'],
  ['delete from job_leases where job = $1', 'instance'],
  ['/* hold */ select id from settlements', 'hold'],
  ['begin; /* lane */ select 1', 'lane'],
  ['/* nobody */ select id from intents', 'intent'],
  ['select 1', 'other'],
  ['select from unheard_of', 'other'],
])('counts the statement "%s" in the group %s', (text, group) => {
  // The second one is answered from memory.
  expect([findGroup(text), findGroup(text)]).toEqual([group, group])
})
