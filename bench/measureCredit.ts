import { randomInt, randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { systemClock } from '../src/platform/clock.js'
import { silentLogger } from '../src/platform/logger.js'
import type { SettlementJournal } from '../src/ports/settlementJournal.js'
import { createSchemeRegistry } from '../src/schemes/registry.js'
import { createCreditStore } from '../src/stores/postgres/credit/creditStore.js'
import { migrate } from '../src/stores/postgres/database/migrate.js'
import { openPool } from '../src/stores/postgres/database/pool.js'
import { createSettlementJournal } from '../src/stores/postgres/journal/settlementJournal.js'
import { createCredit } from '../src/usecases/credit/index.js'
import { claimOf } from '../test/support/claimOf.js'
import { addInstance } from '../test/support/instances.js'
import { createToyScheme } from '../test/support/toyScheme.js'
import type { Scale } from './options.js'
import { startDatabase } from './startDatabase.js'
import { median } from './summarizeLoad.js'
import { figure, printTable, toColumns } from './table.js'
import { atMost, type Verdict } from './verdict.js'

const rows = 10_000_000
const quickRows = 1_000_000
const rowsAtOnce = 500_000
const wallets = 100_000
const shops = 10_000
const shopsPerWallet = 20
const network = 'eip155:8453'
// One wallet that is far larger than the others; its payees are no shops of theirs.
const largeWallet = 900_000_000
const largePayments = 100_000
const largePayees = 10_000

const settlementsPerRound = 2_000
const rounds = 8
const concurrency = 64

/** SQL over a number: its wallet. The first ones are shops too. */
const addressOf = (number: string): string => `'0x' || lpad(to_hex((${number})::bigint), 40, '0')`
const walletOf = (number: number): string => `0x${number.toString(16).padStart(40, '0')}`

/** Scores of 100,000 wallets with ten million settlements, and what keeping them costs each settlement. */
export const measureCredit = async (scale: Scale): Promise<readonly Verdict[]> => {
  const database = await startDatabase()
  const pool = openPool({
    url: database.url,
    maxConnections: 8,
    onError: () => undefined,
    // For filling.
    statementTimeoutMs: 900_000,
  })
  try {
    await migrate(pool, new URL('../migrations/', import.meta.url))
    const cost = await measureTriggers(pool)
    await pool.query('truncate settlements, broadcasts, broadcast_settlements')
    const count = Number(process.env.BENCH_CREDIT_ROWS ?? (scale < 1 ? quickRows : rows))
    await fill(pool, count)
    return [...cost, ...(await measureReads(pool, { count, runs: Math.ceil(2_000 * scale) }))]
  } finally {
    await pool.end()
    await database.stop()
  }
}

/** Claims and closes with and without the triggers, by turns. */
const measureTriggers = async (pool: Pool): Promise<readonly Verdict[]> => {
  const journal = createSettlementJournal(pool, await addInstance(pool))
  const table = printTable(
    'Credit: cost of a settlement',
    `${settlementsPerRound} claims and closes a round, ${concurrency} at a time, ${rounds} rounds each by turns; ms a settlement.`,
    toColumns('load                       ', 'without', 'with', 'ratio'),
  )
  const verdicts: Verdict[] = []
  for (const { name, payer, payee } of [
    { name: 'known pairs', payer: () => randomInt(200), payee: () => shops + randomInt(5) },
    { name: 'new pairs', payer: () => randomInt(wallets), payee: () => wallets + randomInt(wallets * 1_000) },
    { name: 'one payer, one payee', payer: () => 1, payee: () => 2 },
  ]) {
    const pair = () => ({ payer: walletOf(payer()), payee: walletOf(payee()) })
    const took = { enable: [] as number[], disable: [] as number[] }
    await settle(journal, pair, settlementsPerRound)
    for (let round = 0; round < rounds; round += 1) {
      for (const setting of round % 2 === 0
        ? (['enable', 'disable'] as const)
        : (['disable', 'enable'] as const)) {
        await pool.query(`alter table settlements ${setting} trigger settlements_credit`)
        const startedAt = performance.now()
        await settle(journal, pair, settlementsPerRound)
        took[setting].push((performance.now() - startedAt) / settlementsPerRound)
      }
    }
    const [without, withTriggers] = [median(took.disable), median(took.enable)]
    const ratio = withTriggers / without
    table.row(name, figure(without), figure(withTriggers), `${figure(ratio)} ×`)
    verdicts.push(atMost(`credit, cost of a settlement, ${name}`, ratio, { limit: 1.2, unit: '×' }))
  }
  await pool.query('alter table settlements enable trigger settlements_credit')
  return verdicts
}

const settle = async (
  journal: SettlementJournal,
  pair: () => { readonly payer: string; readonly payee: string },
  count: number,
): Promise<void> => {
  let left = count
  const work = async () => {
    while (left > 0) {
      left -= 1
      const { payer, payee } = pair()
      const claimed = await journal.claim(
        claimOf({
          network,
          payer,
          payTo: payee,
          amount: 1_000_000n,
          wallets: { payer, payee },
          dollarDecimals: 6,
        }),
      )
      if (claimed === null) throw new Error('Not claimed')
      await journal.close(claimed.id, {
        state: 'confirmed',
        transaction: randomUUID(),
        block: { number: 1n, hash: '0x1' },
      })
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
}

/**
 * Set-based, because ten million claims and closes take an hour: without triggers and secondary indexes, which are built
 * afterwards; what the credit triggers keep is counted as the migration counts it.
 */
const fill = async (pool: Pool, count: number): Promise<void> => {
  const startedAt = performance.now()
  const say = (what: string) =>
    console.log(`  ${what} after ${Math.round((performance.now() - startedAt) / 1_000)} s`)
  const { rows: indexes } = await pool.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index
     where indrelid = 'settlements'::regclass and not indisprimary`,
  )
  for (const { name } of indexes) await pool.query(`drop index ${name}`)
  await pool.query('alter table settlements disable trigger user')
  for (let from = 0; from < count; from += rowsAtOnce) {
    await pool.query(
      `insert into settlements (id, authorization_id, caller, fingerprint, scheme, network, asset, payer, pay_to, amount,
         authorized_amount, settled_amount, state, reason, transaction, closed_at, block_number, block_hash, is_final,
         created_at, payer_wallet, payee_wallet, dollar_decimals)
       select ('00000000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'authorization ' || n, 'anonymous',
         repeat('f', 64), 'exact', '${network}', '0xasset', payer, payee, amount, amount,
         case when not has_failed then amount end, case when has_failed then 'failed' else 'confirmed' end,
         case when has_failed then 'insufficient_funds' end, '0x' || md5(n::text) || md5(n::text), now(),
         case when not has_failed then n / 20 end,
         case when not has_failed then '0x' || lpad((n / 20)::text, 64, '0') end, not has_failed,
         now() - (${count} - n) * interval '3 seconds', payer, payee, 6
       from generate_series($1::bigint, $2::bigint) n,
         lateral (select n % ${wallets} as number, n / ${wallets} as turn) w,
         lateral (select ${addressOf('number')} as payer,
           ${addressOf(`(number * 7 + (turn % ${shopsPerWallet}) ^ 2 * 13)::bigint % ${shops}`)} as payee,
           1000 * (1 + hashint8(n)::bigint & 1048575) as amount, n % 97 = 0 as has_failed) made`,
      [from, Math.min(count, from + rowsAtOnce) - 1],
    )
  }
  await pool.query(
    `insert into settlements (id, authorization_id, caller, fingerprint, scheme, network, asset, payer, pay_to, amount,
       authorized_amount, settled_amount, state, transaction, closed_at, block_number, block_hash, is_final, created_at,
       payer_wallet, payee_wallet, dollar_decimals)
     select ('00000001-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, 'large ' || n, 'anonymous', repeat('f', 64),
       'exact', '${network}', '0xasset', payer, payee, 1000000, 1000000, 1000000, 'confirmed', '0x' || md5(n::text), now(),
       n, '0x' || n, true, now() - n * interval '3 seconds', payer, payee, 6
     from generate_series(1, ${largePayments}) n,
       lateral (select ${addressOf(String(largeWallet))} as payer,
         ${addressOf(`${largeWallet} + 1 + n % ${largePayees}`)} as payee) made`,
  )
  say('inserted')
  for (const { definition } of indexes) await pool.query(definition)
  await pool.query('alter table settlements enable trigger user')
  say('indexed')
  await pool.query('select rebuild_credit()')
  say('counted')
  for (const table of ['settlements', 'credit_edges', 'credit_wallets', 'credit_failures', 'credit_pairs']) {
    await pool.query(`vacuum analyze ${table}`)
  }
  const credit = openCredit(pool)
  const unstopped = new AbortController().signal
  await credit.jobs.updateCreditScores.run(unstopped)
  say('traced and scored')
  for (const table of ['credit_edges', 'credit_wallets', 'credit_scores', 'credit_pairs', 'credit_changes']) {
    await pool.query(`vacuum analyze ${table}`)
  }
  await pool.query('checkpoint')
  say('ready')
}

const openCredit = (pool: Pool) =>
  createCredit({
    registry: createSchemeRegistry([
      createToyScheme({
        kind: { scheme: 'exact', network },
        network: { isAddress: (text) => /^0x[0-9a-f]{40}$/i.test(text) },
      }),
    ]),
    creditStore: createCreditStore(pool),
    counter: {
      countCreditRepair: () => {
        throw new Error('A recount differs')
      },
    },
    clock: systemClock,
    logger: silentLogger,
  })

const measureReads = async (
  pool: Pool,
  { count, runs }: { readonly count: number; readonly runs: number },
): Promise<readonly Verdict[]> => {
  const { readScore, refreshScore, listTop } = openCredit(pool).useCases
  const journal = createSettlementJournal(pool, await addInstance(pool))
  const { rows: sizes } = await pool.query<{ edges: string; cycles: string }>(
    'select count(*) as edges, count(*) filter (where in_cycle) as cycles from credit_edges',
  )
  const table = printTable(
    'Credit: reads',
    `${count.toLocaleString('en')} settlements of ${wallets.toLocaleString('en')} wallets, ${sizes[0]?.edges} pairs, ` +
      `${sizes[0]?.cycles} on cycles; random wallets, one at a time. The large wallet has ${largePayments} settlements and ${largePayees} payees.`,
    toColumns('request                          ', 'runs', 'p50 ms', 'p99 ms'),
  )
  const someWallet = () => ({ wallet: walletOf(randomInt(wallets)) })
  const verdicts: Verdict[] = []
  const measure = async (
    name: string,
    {
      times,
      limit,
      run,
    }: { readonly times: number; readonly limit: number; readonly run: () => Promise<unknown> },
    prepare: () => Promise<unknown> = async () => undefined,
  ) => {
    const took: number[] = []
    for (let round = 0; round < times; round += 1) {
      await prepare()
      const startedAt = performance.now()
      await run()
      took.push(performance.now() - startedAt)
    }
    const ordered = took.toSorted((left, right) => left - right)
    const at = (share: number) => ordered[Math.floor((ordered.length - 1) * share)] ?? Number.NaN
    table.row(name, String(times), figure(at(0.5)), figure(at(0.99)))
    verdicts.push(atMost(`credit, ${name}, p99`, at(0.99), { limit, unit: 'ms' }))
  }
  const cold = { times: Math.ceil(runs / 4), limit: 200, run: () => refreshScore(someWallet()) }
  await measure('refresh', cold)
  const large = { wallet: walletOf(largeWallet) }
  const largeTimes = Math.ceil(runs / 40)
  // The count and the cycles may take 1.5 s each, and give up then.
  await measure('refresh of a large wallet', {
    times: largeTimes,
    limit: 3_500,
    run: () => refreshScore(large),
  })
  await measure('score of a large wallet', { times: largeTimes, limit: 20, run: () => readScore(large) })
  await measure('score', { times: runs, limit: 5, run: () => readScore(someWallet()) })
  await measure('top 100', { times: Math.ceil(runs / 4), limit: 10, run: () => listTop(100) })
  // A pair that may close a cycle: the reader traces it.
  await measure(
    'score after a settlement of a new pair',
    { times: Math.ceil(runs / 4), limit: 20, run: () => readScore(someWallet()) },
    () =>
      settle(journal, () => ({ payer: walletOf(randomInt(shops)), payee: walletOf(randomInt(wallets)) }), 1),
  )
  return verdicts
}
