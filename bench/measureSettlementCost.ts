import { randomBytes, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { z } from 'zod'
import type { IdempotentRequest } from '../src/ports/idempotencyStore.js'
import type { SettlementClaim } from '../src/ports/settlementJournal.js'
import { tiers } from '../src/protocol/tiers.js'
import { createConfirmedBlocks } from '../src/stores/postgres/journal/confirmedBlocks.js'
import { createIdempotencyStore } from '../src/stores/postgres/journal/idempotencyStore.js'
import { createSettlementJournal } from '../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../src/stores/postgres/lanes/signerLanes.js'
import { createWebhookOutbox } from '../src/stores/postgres/webhooks/webhookOutbox.js'
import { addInstance } from '../test/support/instances.js'
import { recordInLane } from '../test/support/recordInLane.js'
import {
  type LoggedRecords,
  type LogPosition,
  printLoggedRecords,
  readLoggedRecords,
  readLogPosition,
} from './readLog.js'
import { figure, printTable, toColumns } from './table.js'
import { atLeast, atMost, type Verdict } from './verdict.js'

const network = 'eip155:8453'
const asset = `0x${'a'.repeat(40)}`
const signer = `0x${'5'.repeat(40)}`
const accounts = 20
const settlementsAtOnce = 100
const vacuumEvery = 1_000
// A raw transaction that carries one `transferWithAuthorization`, in hexadecimal digits.
const transactionDigits = 2 * 460

const keptTables = ['settlements', 'consumed_authorizations'] as const
const broadcastTables = ['broadcasts', 'broadcast_settlements'] as const
const purgedTables = ['webhook_deliveries', 'idempotent_requests'] as const
const tables = [...keptTables, ...broadcastTables, ...purgedTables]

const steps = ['begin', 'claim', 'record', 'close', 'answer', 'final', 'deliver'] as const
type Step = (typeof steps)[number]

interface Written extends LogPosition {
  /** Of `bytes`, those of full pages. NaN: the server has no pg_walinspect, or is older than 16. */
  readonly pageBytes: number
}

interface StepCost extends Written {
  /** By relation and kind. */
  readonly logged: readonly LoggedRecords[]
}

const nothing: StepCost = { bytes: 0, records: 0, pages: 0, pageBytes: 0, logged: [] }

const sizes = z.array(z.object({ name: z.string(), of: z.string(), bytes: z.coerce.number() }))
const updates = z.array(z.object({ name: z.string(), updates: z.coerce.number(), hot: z.coerce.number() }))

/**
 * What one settlement writes to the log and keeps on disk, by the journal's own statements, one after the other. Half belong
 * to accounts with a webhook and a quota. Dead rows are vacuumed meanwhile, as autovacuum does.
 */
export const measureSettlementCost = async (pool: Pool, count: number): Promise<readonly Verdict[]> => {
  // Without it, or the right to create it, the bytes of full pages are not known.
  await pool.query('create extension if not exists pg_walinspect').catch(() => undefined)
  const settle = await createSettler(pool)
  // The first ones fill what is reused later: the pages of the small tables, and the plans.
  await settle(settlementsAtOnce)
  await vacuum(pool)
  await pool.query('checkpoint')
  const before = { sizes: await readSizes(pool), updates: await readUpdates(pool) }
  const costs = await settle(count)
  await vacuum(pool)
  const after = { sizes: await readSizes(pool), updates: await readUpdates(pool) }

  const log = printTable(
    'What a settlement writes to the log',
    `Mean of ${count}, after a checkpoint, one connection. A page is logged in full when it is first changed after a checkpoint.`,
    [{ name: 'step', width: 34 }, ...toColumns('bytes', 'records', 'full pages', 'bytes of full pages')],
  )
  for (const step of steps) {
    const { bytes, records, pages, pageBytes } = costs[step]
    log.row(step, ...[bytes, records, pages, pageBytes].map((value) => figure(value / count)))
  }
  const meanOf = (read: (written: Written) => number): number =>
    steps.reduce((sum, step) => sum + read(costs[step]), 0) / count
  const logged = meanOf(({ bytes }) => bytes)
  log.row(
    'all',
    figure(logged),
    ...[
      meanOf(({ records }) => records),
      meanOf(({ pages }) => pages),
      meanOf(({ pageBytes }) => pageBytes),
    ].map(figure),
  )

  printLoggedRecords(
    steps.map((step) => ({ name: step, logged: costs[step].logged })),
    count,
  )

  const disk = printTable(
    'What a settlement keeps on disk',
    `Bytes for each of ${count} final settlements, with indexes and what vacuum left.`,
    [{ name: 'table or index', width: 44 }, ...toColumns('bytes')],
  )
  const grown = after.sizes
    .map(({ name, of, bytes }) => {
      const was = before.sizes.find((each) => each.name === name)?.bytes ?? 0
      return { name, of, bytes: (bytes - was) / count }
    })
    .filter(({ bytes }) => bytes > 0)
  for (const { name, bytes } of grown) disk.row(name, figure(bytes))
  const sumOf = (names: readonly string[]): number =>
    grown.filter(({ of }) => names.includes(of)).reduce((sum, { bytes }) => sum + bytes, 0)
  const [kept, dropped, purged] = [sumOf(keptTables), sumOf(broadcastTables), sumOf(purgedTables)]
  disk.row('kept until it is archived', figure(kept))
  disk.row('dropped after RETENTION_BROADCASTS_DAYS', figure(dropped))
  disk.row('purged after 24 hours and 30 days', figure(purged))

  const hot = printTable(
    'Updates in place',
    'Updates of a settlement, and how many of them wrote no index (HOT).',
    [{ name: 'table', width: 34 }, ...toColumns('updates', 'HOT')],
  )
  let share = 0
  for (const { name, updates: all, hot: inPlace } of after.updates) {
    const was = before.updates.find((each) => each.name === name)
    const [made, madeInPlace] = [all - (was?.updates ?? 0), inPlace - (was?.hot ?? 0)]
    if (made > 0) hot.row(name, figure(made / count), `${figure((100 * madeInPlace) / made)} %`)
    if (name === 'settlements') share = madeInPlace / made
  }
  return [
    atMost('disk for each final settlement', kept, { limit: 1_200, unit: 'bytes' }),
    atMost('log for each settlement', logged, { limit: 4_000, unit: 'bytes' }),
    atLeast('updates of settlements in place', 100 * share, { limit: 66, unit: '%' }),
  ]
}

const createSettler = async (pool: Pool) => {
  const instance = await addInstance(pool)
  const journal = createSettlementJournal(pool, instance)
  const blocks = createConfirmedBlocks(pool)
  const idempotency = createIdempotencyStore(pool, instance)
  const outbox = createWebhookOutbox(pool)
  const lanes = createSignerLanes(pool, instance)
  const lane = { network, signer }
  await lanes.advance(lane, 0)
  const callers = Array.from({ length: accounts }, () => randomUUID())
  for (const caller of callers) {
    await outbox.setEndpoint(caller, { url: 'https://shop.example/hook', sealedSecret: randomBytes(60) })
  }
  const quota = { tier: tiers.builder, at: new Date() }
  let number = 0

  /** The steps are those of one request, each done for all of a group before the next. */
  return async (count: number): Promise<Readonly<Record<Step, StepCost>>> => {
    const costs: Record<Step, StepCost> = {
      begin: nothing,
      claim: nothing,
      record: nothing,
      close: nothing,
      answer: nothing,
      final: nothing,
      deliver: nothing,
    }
    const measure = async (step: Step, work: () => Promise<void>): Promise<void> => {
      const start = await readLogPosition(pool)
      await work()
      const end = await readLogPosition(pool)
      const list = await readLoggedRecords(pool, start, end)
      const { bytes, records, pages, pageBytes, logged } = costs[step]
      costs[step] = {
        bytes: bytes + end.bytes - start.bytes,
        records: records + end.records - start.records,
        pages: pages + end.pages - start.pages,
        pageBytes: pageBytes + (list?.reduce((sum, each) => sum + each.pageBytes, 0) ?? Number.NaN),
        logged: [...logged, ...(list ?? [])],
      }
    }
    for (let done = 0; done < count; done += settlementsAtOnce) {
      const claims = Array.from({ length: settlementsAtOnce }, () => {
        number += 1
        return claimOf(number, number % 2 === 0 ? (callers[number % accounts] ?? '') : 'anonymous')
      })
      const requests = claims.map((claim): IdempotentRequest => {
        const { caller, fingerprint } = claim
        return { caller, key: randomUUID(), fingerprint }
      })
      const ids: string[] = []
      const sent: string[] = []
      const block = { number: BigInt(30_000_000 + done), hash: hex(64) }
      await measure('begin', async () => {
        for (const request of requests) await idempotency.begin(request)
      })
      await measure('claim', async () => {
        for (const claim of claims) {
          const charge = claim.caller === 'anonymous' ? null : quota
          ids.push((await journal.claim(claim, charge, { purpose: 'settle' }))?.id ?? '')
        }
      })
      await measure('record', async () => {
        for (const id of ids) {
          const sign = async () => ({ transaction: hex(64), bytes: hex(transactionDigits) })
          sent.push((await recordInLane({ journal, lanes }, id, { lane, sign })).transaction)
        }
      })
      await measure('close', async () => {
        for (const [at, id] of ids.entries()) {
          const { caller, key } = requests[at] ?? { caller: '', key: '' }
          const closing = {
            state: 'confirmed',
            transaction: sent[at] ?? '',
            block,
            gasUsed: 86_214n,
          } as const
          await journal.close(id, closing, `key:${caller}:${key}`)
        }
      })
      await measure('answer', async () => {
        for (const [at, request] of requests.entries()) {
          await idempotency.answer(request, {
            success: true,
            status: 'confirmed',
            transaction: sent[at],
            network,
            payer: claims[at]?.payer,
            amount: '10000',
            settlementId: ids[at],
          })
        }
      })
      await measure('final', () => blocks.markFinal({ network, scheme: 'exact', block }))
      await measure('deliver', async () => {
        for (;;) {
          const due = await outbox.leaseDue({ limit: 128, limitPerAccount: 16, except: [], leaseMs: 30_000 })
          for (const delivery of due) {
            await outbox.finish(delivery, { state: 'delivered', status: 200, error: null })
          }
          if (due.length === 0) break
        }
      })
      if ((done + settlementsAtOnce) % vacuumEvery === 0) await vacuum(pool)
    }
    return costs
  }
}

const hex = (digits: number): string => `0x${randomBytes(digits / 2).toString('hex')}`

/** As wide as what a payment by EIP-3009 has. */
const claimOf = (number: number, caller: string): SettlementClaim => {
  const payer = `0x${(number % 997).toString(16).padStart(40, 'b')}`
  const payTo = `0x${(number % 101).toString(16).padStart(40, 'c')}`
  const nonce = hex(64)
  return {
    authorizationId: `${network}/${asset}/${payer}/${nonce}`,
    scheme: 'exact',
    network,
    asset,
    payer,
    payTo,
    wallets: { payer, payee: payTo },
    dollarDecimals: 6,
    amount: 10_000n,
    authorizedAmount: 10_000n,
    details: { nonce },
    expiresAt: new Date(Date.now() + 60_000),
    resource: 'https://shop.example/articles/1234567890',
    caller,
    fingerprint: randomBytes(32).toString('hex'),
    proofFingerprint: caller === 'anonymous' ? null : randomBytes(32).toString('hex'),
  }
}

const vacuum = async (pool: Pool): Promise<void> => {
  for (const table of tables) await pool.query(`vacuum analyze ${table}`)
}

const readSizes = async (pool: Pool): Promise<z.infer<typeof sizes>> => {
  const { rows } = await pool.query(
    `select c.relname as name, t.relname as of, pg_table_size(c.oid) as bytes
     from pg_class t join pg_class c
       on c.oid = t.oid or c.oid in (select indexrelid from pg_index where indrelid = t.oid)
     where t.relname = any($1) order by array_position($1, t.relname::text), c.relkind desc, c.relname`,
    [tables],
  )
  return sizes.parse(rows)
}

const readUpdates = async (pool: Pool): Promise<z.infer<typeof updates>> => {
  await pool.query('select pg_stat_force_next_flush()')
  const { rows } = await pool.query(
    `select relname as name, n_tup_upd as updates, n_tup_hot_upd as hot from pg_stat_user_tables
     where relname = any($1) order by array_position($1, relname::text)`,
    [tables],
  )
  return updates.parse(rows)
}
