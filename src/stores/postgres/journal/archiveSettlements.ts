import { createWriteStream, existsSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { createGzip } from 'node:zlib'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { describeFileFailure, syncFolder, syncPath } from '../backup/writeBackup.js'
import { countInstancesBefore } from '../database/schemaHistory.js'
import { inTransaction } from '../database/statements.js'
import { insertAction } from '../operator/operatorRecords.js'
import { readIds, removeUnfinished, toCsv, verifyArchive } from './archiveFile.js'
import { createBroadcastRetention, listNetworks } from './broadcastRetention.js'
import { hasFailed, isConfirmed } from './settlementStates.js'

interface ArchiveOptions {
  /** A compressed CSV. Where it exists, it is the file of an archive that was interrupted. */
  readonly file: string
  /** Midnight, UTC. */
  readonly before: Date
  /** Default: that of the operating system. */
  readonly sync?: (folder: string) => Promise<void>
}

export interface Archived {
  /** Settlements in the file. */
  readonly listed: number
  /** By this call. */
  readonly deleted: number
  readonly sha256: string
}

/** Of archives: nightly runs, quotas of a month and webhooks need what is younger. */
export const minArchivedDays = 90
const dayMs = 86_400_000
const rowsPerPage = 1_000
const deletedAtOnce = 500
// Payments use the same disk.
const pauseMs = 50

/**
 * What has earned its success for good, with its digest, and what no counter but those that are kept needs: no failed
 * attempt of its authorization, whose payer would count as failing; no stream or intent that names it; no signed bytes. Of
 * the payees of families that sponsor payments, one later payment stays. $2: created, closed and consumed before.
 */
const isArchivable = `${isConfirmed('s')} and (s.block_hash is null or s.is_final)
  and s.created_at < $2::timestamptz and s.closed_at < $2::timestamptz
  and exists (select from consumed_authorizations c where c.digest = digest_authorization(s.authorization_id)
    and c.settlement_id = s.id and c.consumed_at < $2::timestamptz)
  and not exists (select from settlements f where f.authorization_id = s.authorization_id and ${hasFailed('f')})
  and not exists (select from broadcast_settlements c
    where c.network = s.network and c.transaction = any(s.transactions) and c.settlement_id = s.id)
  and not case when s.fingerprint ~ '^stream:[0-9a-f-]{36}$'
    then exists (select from streams t where t.id = substr(s.fingerprint, 8)::uuid) else false end
  and not exists (select from intents i where i.settlement_id = s.id)
  and not ((s.network like 'ton:%' or s.network like 'tron:%') and not exists (select from settlements l
    where l.network = s.network and l.payee_wallet = s.payee_wallet and ${isConfirmed('l')}
      and (l.network like 'ton:%' or l.network like 'tron:%') and l.created_at >= $2::timestamptz))`

const columnRow = z.object({ name: z.string() })
const networkRow = z.object({ network: z.string() })
const pageRow = z.object({ id: z.string(), cursor: z.string(), line: z.string() })
const values = z.array(z.string().nullable())

// Versions with migrations up to this one count credit from settlements alone.
const lastWithoutArchives = 46

// Arbitrary, but unique among the advisory locks of this database.
const archiveLock = 7_140_404

/**
 * Writes, verifies and syncs the file before anything is deleted, and deletes what it lists. Uses two connections: the lock
 * of archives is held by a transaction that is idle meanwhile, and has no snapshot that would keep vacuum from its work.
 */
export const archiveSettlements = async (pool: Pool, options: ArchiveOptions): Promise<Archived> => {
  const { before } = options
  if (before.getTime() % dayMs !== 0) throw new Error('An archive ends at midnight, UTC.')
  if (before.getTime() > Date.now() - minArchivedDays * dayMs) {
    throw new Error(
      `Settlements younger than ${minArchivedDays} days cannot be archived: reconciliation, quotas and webhooks need them.`,
    )
  }
  await refuseOlderVersions(pool)
  return await inTransaction(pool, async (client) => {
    await client.query('set local idle_in_transaction_session_timeout = 0')
    const { rows } = await client.query(`select pg_try_advisory_xact_lock(${archiveLock}) as is_taken`)
    if (rows[0]?.is_taken !== true) throw new Error('Another archive is under way: run this one after it.')
    return await archiveAlone(pool, options)
  })
}

const refuseOlderVersions = async (client: Pool | PoolClient): Promise<void> => {
  const count = await countInstancesBefore(client, lastWithoutArchives + 1)
  if (count === 0) return
  throw new Error(
    `${count} instances of an older version sent a heartbeat within the last 10 seconds. They recount credit from settlements alone, so that an archive would lower scores. Stop them, and run the archive again.`,
  )
}

const archiveAlone = async (
  pool: Pool,
  { file, before, sync = syncFolder }: ArchiveOptions,
): Promise<Archived> => {
  const isWritten = existsSync(file) || (await writeArchive(pool, { file, before }))
  if (!isWritten) return { listed: 0, deleted: 0, sha256: '' }
  const archive = await findStarted(pool, file)
  await sync(dirname(file)).catch((cause: unknown) => {
    throw new Error(
      `The folder of ${file} could not be synced, so a power failure could lose the file. Nothing was deleted: run the archive again with the same file.`,
      { cause },
    )
  })
  const deleted = await deleteListed(pool, file, archive)
  await inTransaction(pool, async (client) => {
    await client.query('update settlement_archives set finished_at = now() where id = $1', [archive.id])
    await insertAction(client, {
      action: 'settlements.archived',
      target: { file: basename(file), before: archive.before.toISOString() },
      by: null,
      address: null,
      before: null,
      after: { settlements: archive.listed, sha256: archive.sha256 },
    })
  })
  return { listed: archive.listed, deleted, sha256: archive.sha256 }
}

const archiveRow = z.object({
  id: z.string(),
  sha256: z.string(),
  before: z.date(),
  listed: z.coerce.number(),
})
type Archive = z.infer<typeof archiveRow>

/** The archive that is not finished, and deletes what the file lists. */
const findStarted = async (pool: Pool, file: string): Promise<Archive> => {
  const { sha256 } = await verifyArchive(file)
  const { rows } = await pool.query(
    'select id, sha256, before, listed from settlement_archives where sha256 = $1 and finished_at is null',
    [sha256],
  )
  if (rows[0] === undefined) throw new Error(`${file} exists: an archive overwrites no file.`)
  return archiveRow.parse(rows[0])
}

/** False: there is nothing to archive. */
const writeArchive = async (
  pool: Pool,
  { file, before }: Pick<ArchiveOptions, 'file' | 'before'>,
): Promise<boolean> => {
  await dropBroadcasts(pool, before)
  const partial = `${file}.part`
  await removeUnfinished(partial)
  try {
    let written = 0
    const lines = writeLines(pool, before, (count) => {
      written += count
    })
    await pipeline(
      Readable.from(lines),
      createGzip(),
      createWriteStream(partial, { flags: 'wx', mode: 0o600 }),
    )
    await syncPath(partial)
    const { sha256, listed } = await verifyArchive(partial)
    if (listed !== written) throw new Error(`${partial} has ${listed} of ${written} settlements.`)
    if (listed > 0) {
      await recordArchive(pool, { file: basename(file), sha256, before, listed })
      await rename(partial, file)
    }
    return listed > 0
  } catch (error) {
    throw describeFileFailure(error, file)
  } finally {
    await rm(partial, { force: true })
  }
}

/** Also of settlements that closed on the day after. */
const dropBroadcasts = async (pool: Pool, before: Date): Promise<void> => {
  const retention = createBroadcastRetention(pool)
  const closedBefore = new Date(before.getTime() + dayMs)
  while (!(await retention.dropClosedBefore(closedBefore, new AbortController().signal)).isDone);
}

/** What was interrupted before it deleted anything counts for nothing. */
const recordArchive = (
  pool: Pool,
  { file, sha256, before, listed }: Omit<Archive, 'id'> & { readonly file: string },
): Promise<void> =>
  inTransaction(pool, async (client) => {
    await client.query('delete from settlement_archives where finished_at is null and deleted = 0')
    const { rows } = await client.query(
      `insert into settlement_archives (file, sha256, before, listed) values ($1, $2, $3, $4)
       on conflict do nothing returning id`,
      [file, sha256, before, listed],
    )
    if (rows[0] === undefined) {
      const { rows: unfinished } = await client.query<{ file: string }>(
        'select file from settlement_archives where finished_at is null',
      )
      throw new Error(`The archive ${unfinished[0]?.file} is not finished: run it again with its file first.`)
    }
  })

/** One page is one short statement: a long one would keep vacuum from its work. What is listed no longer changes. */
async function* writeLines(
  pool: Pool,
  before: Date,
  onPage: (count: number) => void,
): AsyncGenerator<string> {
  const { rows: described } = await pool.query(
    `select column_name as name from information_schema.columns
     where table_schema = current_schema() and table_name = 'settlements' order by ordinal_position`,
  )
  const names = described.map((row) => columnRow.parse(row).name)
  yield `${names.join()}\n`
  const list = `
    select s.id, s.created_at::text as cursor, json_build_array(${names.map((name) => `s."${name}"::text`).join()})::text as line
    from settlements s
    where s.network = $1 and (s.created_at, s.id) > ($3::timestamptz, $4::uuid) and ${isArchivable}
    order by s.created_at, s.id limit ${rowsPerPage}`
  const { rows: networks } = await pool.query(listNetworks)
  for (const { network } of networks.map((row) => networkRow.parse(row))) {
    let after = { cursor: '-infinity', id: '00000000-0000-0000-0000-000000000000' }
    for (;;) {
      const page = await inTransaction(pool, async (client) => {
        await client.query(`set local timezone = 'UTC'; set local datestyle = 'ISO, MDY'`)
        const { rows } = await client.query(list, [network, before, after.cursor, after.id])
        return rows.map((row) => pageRow.parse(row))
      })
      onPage(page.length)
      if (page.length > 0) yield page.map(({ line }) => toCsv(values.parse(JSON.parse(line)))).join('')
      const last = page.at(-1)
      if (last === undefined || page.length < rowsPerPage) break
      after = last
    }
  }
}

// Wallets in the order in which triggers lock them.
const deleteRows = `
  with gone as (
    delete from settlements s where s.id = any($1::uuid[]) and ${isArchivable} returning s.*
  ), credit as (
    insert into archived_credit as a (payer, payee, payments, volume, first_at)
    select credit_wallet(network, payer_wallet), credit_wallet(network, payee_wallet), count(*), sum(worth), min(created_at)
    from gone, lateral (select credit_worth(coalesce(settled_amount, amount), dollar_decimals) as worth) w
    where dollar_decimals is not null and credit_counts(payer_wallet, payee_wallet, worth)
    group by 1, 2 order by 1, 2
    on conflict (payer, payee) do update set payments = a.payments + excluded.payments,
      volume = a.volume + excluded.volume, first_at = least(a.first_at, excluded.first_at)
  )
  update settlement_archives set deleted = deleted + (select count(*) from gone)
  where id = $3 and finished_at is null returning (select count(*) from gone) as deleted`

const deletedRow = z.object({ deleted: z.coerce.number() })

const deleteListed = async (pool: Pool, file: string, { id, before }: Archive): Promise<number> => {
  let deleted = 0
  const remove = async (ids: readonly string[]): Promise<void> => {
    const count = await inTransaction(pool, async (client) => {
      // One may have been started meanwhile.
      await refuseOlderVersions(client)
      const { rows } = await client.query(deleteRows, [ids, before, id])
      // Rolls back what was deleted.
      if (rows[0] === undefined)
        throw new Error('Another archive was started meanwhile: nothing more is deleted.')
      return deletedRow.parse(rows[0]).deleted
    })
    deleted += count
    await sleep(pauseMs)
  }
  let ids: string[] = []
  for await (const each of readIds(file)) {
    ids.push(each)
    if (ids.length < deletedAtOnce) continue
    await remove(ids)
    ids = []
  }
  if (ids.length > 0) await remove(ids)
  return deleted
}
