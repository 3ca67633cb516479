import type { Pool } from 'pg'
import type { JobLeases } from '../../../ports/job.js'
import { type Instance, isAlive } from './instance.js'

const isHeldByOther = `exists (select 1 from job_leases l
  where l.job = $1 and l.holder <> $2 and l.expires_at > now() and ${isAlive('l.holder')})`

/** The job of an instance without a heartbeat is free at once. Others only read while the holder is alive. */
export const createJobLeases = (pool: Pool, instance: Instance): JobLeases => ({
  take: async (job, leaseMs) => {
    const { rowCount } = await pool.query(
      `insert into job_leases as l (job, holder, expires_at)
       select $1, $2, now() + $3 * interval '1 millisecond' where not ${isHeldByOther}
       on conflict (job) do update set holder = excluded.holder, expires_at = excluded.expires_at
         where l.holder = excluded.holder or l.expires_at <= now() or not ${isAlive('l.holder')}`,
      [job, instance.id, leaseMs],
    )
    return rowCount === 1
  },
})
