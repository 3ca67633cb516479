import { expect, it } from 'vitest'
import { describeIdempotencyStore, noCacheLayer } from '../../../contracts/idempotencyStoreContract.js'
import { useTestDatabase } from '../../../support/postgres.js'

describeIdempotencyStore('the idempotency store', async () => noCacheLayer)

const { pool } = useTestDatabase()

// How many updates find room depends on what other databases of the server do.
it('has no index on what an answer changes, and leaves room for the answer beside its key', async () => {
  const { rows: indexed } = await pool.query(
    `select distinct d.refobjsubid, a.attname from pg_index i join pg_depend d on d.objid = i.indexrelid
       join pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
     where i.indrelid = 'idempotent_requests'::regclass and d.refobjid = i.indrelid
     union
     select distinct a.attnum, a.attname from pg_index i
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any(i.indkey)
     where i.indrelid = 'idempotent_requests'::regclass order by 1`,
  )
  expect(indexed.map(({ attname }) => attname)).toEqual(['caller', 'key', 'created_at'])
  const { rows: tables } = await pool.query(
    "select reloptions from pg_class where relname = 'idempotent_requests'",
  )
  expect(tables[0]?.reloptions).toContain('fillfactor=33')
})
