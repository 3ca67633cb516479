import type { Pool } from 'pg'
import type { DiscoveryCatalogue } from '../../../ports/discovery.js'
import { uuidForm } from '../database/columnValues.js'
import { purgeInBatches } from '../database/purgeExpired.js'
import { entryColumns, readEntry } from './catalogueRow.js'
import { createListResources } from './listResources.js'
import { createRecordSettlement } from './recordSettlement.js'

const batchSize = 1_000

/** `views` may be slightly out of date: pages of the catalogue are read from it. */
export const createDiscoveryCatalogue = (pool: Pool, views: Pool = pool): DiscoveryCatalogue => ({
  record: createRecordSettlement(pool),
  ...createListResources(views),

  find: async (id) => {
    if (!uuidForm.test(id)) return null
    const { rows } = await pool.query(`select ${entryColumns} from discovery_resources r where r.id = $1`, [
      id,
    ])
    return rows[0] === undefined ? null : readEntry(rows[0])
  },

  setState: async (id, state, at) => {
    if (!uuidForm.test(id)) return false
    const { rowCount } = await pool.query(
      `update discovery_resources set state = $2, owner_changed_at = $3
       where id = $1 and (owner_changed_at is null or owner_changed_at <= $3)`,
      [id, state, at],
    )
    return rowCount === 1
  },

  markStale: (before, stopped) =>
    purgeInBatches(stopped, async () => {
      const { rowCount } = await pool.query(
        `update discovery_resources set state = 'stale' where id in (
           select id from discovery_resources where state = 'listed' and last_settled_at < $1
           order by last_settled_at limit $2 for update skip locked)`,
        [before, batchSize],
      )
      return rowCount === batchSize
    }),

  purge: (before, stopped) =>
    purgeInBatches(stopped, async () => {
      const { rowCount } = await pool.query(
        `delete from discovery_resources where id in (
           select id from discovery_resources where state = 'stale' and last_settled_at < $1
           order by last_settled_at limit $2 for update skip locked)`,
        [before, batchSize],
      )
      return rowCount === batchSize
    }),
})
