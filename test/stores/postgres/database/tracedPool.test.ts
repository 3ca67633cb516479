import { expect, it } from 'vitest'
import { describeStatement } from '../../../../src/stores/postgres/database/tracedPool.js'

it.each([
  ['select id from settlements where id = $1', 'SELECT', 'settlements'],
  ['  update streams set checked_at = $2', 'UPDATE', 'streams'],
  ['insert into webhook_deliveries (id) values ($1)', 'INSERT', 'webhook_deliveries'],
  ['with due as (select id from webhook_deliveries) select 1 from due', 'WITH', 'webhook_deliveries'],
  ['set local statement_timeout = 1500', 'SET', ''],
  ['begin', 'BEGIN', ''],
  ["begin; execute planned_1 ('from secret'); commit", 'BEGIN', ''],
  ["set local enable_seqscan = off; execute planned_1 ('from secret')", 'BEGIN', ''],
  ['select extract(epoch from now())', 'SELECT', ''],
  ['', 'UNKNOWN', ''],
])('a span of %j is named by its operation and its first table', (text, name, table) => {
  expect(describeStatement(text)).toEqual({ name, table })
})
