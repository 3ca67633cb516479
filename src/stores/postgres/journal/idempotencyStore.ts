import type { Pool } from 'pg'
import { z } from 'zod'
import type {
  IdempotencyState,
  IdempotencyStore,
  IdempotentRequest,
} from '../../../ports/idempotencyStore.js'
import { type Reason, readReason } from '../../../protocol/reasons.js'
import { keyKeptMs } from '../../../protocol/requestLimits.js'
import { type Instance, isOwned } from '../database/instance.js'
import { createBackgroundRetries, runInBatches } from '../database/statements.js'

const isExpired = `r.created_at < now() - interval '${keyKeptMs} milliseconds'`
const isRunning = `(r.state = 'running' and r.owner is not null and ${isOwned('r.owner', 'r.started_at')})`

const nameOf = ({ caller, key }: IdempotentRequest): string => `${caller} ${key}`

const row = z.object({
  state: z.enum(['running', 'answered', 'failed']),
  fingerprint: z.string(),
  response: z.unknown(),
  reason: z.string().nullable(),
})

/** Durable: survives restarts of every instance. */
export const createIdempotencyStore = (pool: Pool, instance: Instance): IdempotencyStore => {
  /** Keys that start or run in this process; the table only names the process. */
  const running = new Set<string>()
  const retryInBackground = createBackgroundRetries()

  /**
   * Inserts the key, or takes over one that has expired or that is not running. A row that names this process
   * is not running either, since `begin` asks for other keys only: a failover lost the end of that run.
   */
  const start = async ({ caller, key, fingerprint }: IdempotentRequest): Promise<boolean> => {
    const { rowCount } = await pool.query(
      `insert into idempotent_requests as r (caller, key, fingerprint, state, owner)
       values ($1, $2, $3, 'running', $4)
       on conflict (caller, key) do update
         set fingerprint = excluded.fingerprint, state = 'running', owner = excluded.owner, response = null,
           reason = null, started_at = now(),
           created_at = case when ${isExpired} then now() else r.created_at end
         where (r.owner = $4 or not ${isRunning})
           and (${isExpired} or (r.state = 'running' and r.fingerprint = excluded.fingerprint))`,
      [caller, key, fingerprint, instance.id],
    )
    return rowCount === 1
  }

  /** Skips the write while a later run of the key is in progress. */
  const endInBackground = (request: IdempotentRequest, write: () => Promise<unknown>): void =>
    retryInBackground(async () => {
      if (!running.has(nameOf(request))) await write()
    })

  const endRun = async (request: IdempotentRequest, write: () => Promise<unknown>): Promise<void> => {
    try {
      await write()
    } catch (error) {
      running.delete(nameOf(request))
      endInBackground(request, write)
      throw error
    }
    running.delete(nameOf(request))
  }

  const finish = (
    request: IdempotentRequest,
    state: 'answered' | 'failed',
    outcome: { readonly response?: string; readonly reason?: Reason },
  ) =>
    endRun(request, () =>
      pool.query(
        `update idempotent_requests set state = $3, response = $4, reason = $5, owner = null
         where caller = $1 and key = $2 and owner = $6`,
        [request.caller, request.key, state, outcome.response ?? null, outcome.reason ?? null, instance.id],
      ),
    )

  const release = ({ caller, key }: IdempotentRequest) =>
    pool.query('update idempotent_requests set owner = null where caller = $1 and key = $2 and owner = $3', [
      caller,
      key,
      instance.id,
    ])

  const startHere = async (request: IdempotentRequest): Promise<boolean> => {
    const name = nameOf(request)
    if (running.has(name)) return false
    running.add(name)
    let isStarted = false
    try {
      isStarted = await start(request)
    } finally {
      if (!isStarted) running.delete(name)
    }
    return isStarted
  }

  const begin = async (request: IdempotentRequest): Promise<IdempotencyState> => {
    if (await startHere(request)) return { state: 'started' }
    const { rows } = await pool.query(
      'select state, fingerprint, response, reason from idempotent_requests where caller = $1 and key = $2',
      [request.caller, request.key],
    )
    // Purged meanwhile, or not yet inserted; a retry starts it or finds it.
    if (rows[0] === undefined) return { state: 'running' }
    const { state, fingerprint, response, reason } = row.parse(rows[0])
    if (fingerprint !== request.fingerprint) return { state: 'mismatch' }
    switch (state) {
      case 'answered':
        return { state, response }
      case 'failed':
        return { state, reason: readReason(reason) }
      case 'running':
        return { state }
    }
  }

  return {
    begin: async (request) => {
      try {
        return await begin(request)
      } catch (error) {
        // The insert may have committed; without a release the key would stay running.
        endInBackground(request, () => release(request))
        throw error
      }
    },
    isMismatch: async ({ caller, key, fingerprint }) => {
      const { rowCount } = await pool.query(
        `select from idempotent_requests r
         where r.caller = $1 and r.key = $2 and r.fingerprint <> $3 and (not (${isExpired}) or ${isRunning})`,
        [caller, key, fingerprint],
      )
      return rowCount === 1
    },
    answer: (request, response) => finish(request, 'answered', { response: JSON.stringify(response) }),
    fail: (request, reason) => finish(request, 'failed', { reason }),
    release: (request) => endRun(request, () => release(request)),
    forget: (request) =>
      endRun(request, () =>
        pool.query(
          "delete from idempotent_requests where caller = $1 and key = $2 and owner = $3 and state = 'running'",
          [request.caller, request.key, instance.id],
        ),
      ),
    purge: (stopped) =>
      runInBatches(pool, {
        text: `delete from idempotent_requests where ctid = any(array(
          select r.ctid from idempotent_requests r where ${isExpired} and not ${isRunning}
          order by r.created_at limit $1 for update of r skip locked))`,
        size: 5_000,
        stopped,
      }),
  }
}
