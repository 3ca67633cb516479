import type { Pool } from 'pg'

/**
 * Repeats `deleteBatch` while it returns true, that is, while a batch was full. Short statements: a long one would keep
 * vacuum from removing what has ended since it began, and exceed the statement timeout.
 */
export const purgeInBatches = async (
  stopped: AbortSignal | undefined,
  deleteBatch: () => Promise<boolean>,
): Promise<void> => {
  while (stopped?.aborted !== true && (await deleteBatch())) {
    // Nothing: the next batch follows.
  }
}

const batchSize = 1_000

interface PurgeOptions {
  readonly stopped?: AbortSignal | undefined
  /** SQL condition of rows that stay. */
  readonly unless?: string
}

/** Deletes rows whose `expires_at` has passed. Skips rows that another statement is deleting: neither waits for the other. */
export const purgeExpired = (
  pool: Pool,
  table: 'reservations' | 'siwx_nonces' | 'sandbox_scenarios' | 'sandbox_inboxes' | 'unique_amounts',
  { stopped, unless = 'false' }: PurgeOptions = {},
): Promise<void> =>
  purgeInBatches(stopped, async () => {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid in (
         select ctid from ${table} where expires_at <= now() and not ${unless} order by expires_at limit $1 for update skip locked)`,
      [batchSize],
    )
    return rowCount === batchSize
  })
