import { z } from 'zod'
import type { TestDatabase } from './postgres.js'

/** Lets no stream be recorded as closed until `release`: its payment is made, and no stream knows of it yet. */
export const holdCloses = async (database: TestDatabase) => {
  const pool = database.pool()
  const client = await pool.connect()
  await client.query('select pg_advisory_lock(1)')
  await pool.query(`
    create function wait_for_the_test() returns trigger language plpgsql as
      $$ begin perform pg_advisory_xact_lock_shared(1); return new; end $$;
    create trigger wait_for_the_test before update on streams for each row when (new.state = 'closed')
      execute function wait_for_the_test()`)
  return {
    countWaiting: async () => {
      const { rows } = await pool.query(`
        select count(*)::int as count from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`)
      return z.tuple([z.object({ count: z.number() })]).parse(rows)[0].count
    },
    release: async () => {
      await client.query('select pg_advisory_unlock(1)')
      client.release()
      // Waits for what a killed process had begun, too.
      await pool.query('drop function wait_for_the_test() cascade')
    },
  }
}
