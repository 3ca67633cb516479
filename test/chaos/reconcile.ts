import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import {
  type ChainCheck,
  type Difference,
  type DifferenceKind,
  reconciliationPage,
} from '../../src/protocol/reconciliation.js'
import { fetchServed } from '../support/fetchServed.js'
import { checkEvents } from './checkEvents.js'
import { countUnfinal, describeRow } from './ledger.js'
import { finalityDepth, operatorToken, type World } from './world.js'

/**
 * What is wrong with the service's own reconciliation: differences in sound books, or planted ones that it misses. The
 * books are not sound afterwards.
 */
export const checkReconciliation = async (world: World): Promise<readonly string[]> => {
  const before = await reconcileAtRest(world)
  const histories = await describeUnproven(world, before)
  const undelivered = await checkEvents(world)
  const planted = await plantDifferences(world)
  const missed = await repeatUntil(
    async () => listMissed(planted, await reconcile(world)),
    (left) => left.length === 0,
  )
  return [
    ...before.differences.map((found) => `Reconciliation of sound books found ${JSON.stringify(found)}`),
    ...before.unproven.map(({ what }) => `Reconciliation did not prove ${what}`),
    ...undelivered,
    ...missed.map((each) => `Reconciliation missed ${JSON.stringify(each)}`),
    ...histories,
  ]
}

/** Before anything is planted. */
const describeUnproven = async (
  { pool, instances }: World,
  { unproven }: Books,
): Promise<readonly string[]> => {
  const histories = unproven.map(async ({ id }) => {
    if (id === null) return []
    const lines = instances.flatMap(({ name, findLogLines }) =>
      findLogLines([id]).map((line) => `  ${name} ${line}`),
    )
    return [`Row of ${id}: ${await describeRow(pool, id)}`, ...lines]
  })
  return (await Promise.all(histories)).flat()
}

interface Books {
  readonly differences: readonly Difference[]
  /** Settlements that the nodes do not show, and those whose event waits. */
  readonly unproven: readonly Unproven[]
}

interface Unproven {
  /** Null: it is not about one settlement. */
  readonly id: string | null
  readonly what: string
}

// Longer than an endpoint is avoided after its failures, and than the lease of an event whose instance was killed.
const restMs = 180_000
const pollMs = 500

/** Asks until the answer is as wanted; at the deadline the last answer is returned. */
const repeatUntil = async <Answer>(
  ask: () => Promise<Answer>,
  isWanted: (answer: Answer) => boolean,
): Promise<Answer> => {
  const deadline = performance.now() + restMs
  for (;;) {
    const answer = await ask()
    if (isWanted(answer) || performance.now() >= deadline) return answer
    await sleep(pollMs)
  }
}

/**
 * Reconciles until everything is proven. Only at final depth does the chain prove that nothing moved, and a short run ends
 * before its first payment is there.
 */
const reconcileAtRest = async (world: World): Promise<Books> => {
  const { chain, miner, pool } = world
  await miner.between(() => chain.control.mine(finalityDepth + 1))
  return await repeatUntil(
    async () => {
      const unfinal = await countUnfinal(pool)
      const { differences, unproven } = await reconcile(world)
      const unsettled = unfinal === 0 ? [] : [{ id: null, what: `${unfinal} settlements: not final` }]
      return { differences, unproven: [...unproven, ...unsettled] }
    },
    ({ unproven }) => unproven.length === 0,
  )
}

/** A difference is not found while the nodes do not answer in time. */
const listMissed = (planted: readonly Planted[], { differences }: Books): readonly Planted[] =>
  planted.filter(
    ({ kind, settlementId }) =>
      !differences.some(
        (found) => found.kind === kind && (settlementId === undefined || found.settlementId === settlementId),
      ),
  )

const reconcile = async ({ instances: [instance] }: World): Promise<Books> => {
  await instance.ensureRunning()
  const differences: Difference[] = []
  const unproven: Unproven[] = []
  let cursor: string | undefined
  do {
    // The clock of the instance may be wrong.
    const period = 'from=2000-01-01T00:00:00Z&to=2100-01-01T00:00:00Z'
    const query = cursor === undefined ? period : `${period}&cursor=${cursor}`
    const response = await fetchServed(`${instance.url}/v1/reconciliation?${query}`, {
      headers: { authorization: `Bearer ${operatorToken}` },
    })
    const page = reconciliationPage.parse(await response.json())
    differences.push(...page.differences)
    unproven.push(
      ...page.settlements
        .filter(({ chain, event }) => unprovenChecks.includes(chain) || event === 'waiting')
        .map(({ id, status, chain, event }) => ({
          id,
          what: `${id}, ${status}: chain ${chain}, event ${event}`,
        })),
    )
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return { differences, unproven }
}

const unprovenChecks: readonly string[] = ['open', 'unproven', 'unavailable'] satisfies ChainCheck[]

interface Planted {
  readonly kind: DifferenceKind
  readonly settlementId?: string
}

/** One settlement for each difference of a settlement, and one for each counter. */
const plantDifferences = async ({ pool }: World): Promise<readonly Planted[]> => {
  const { rows } = await pool.query(
    `select id from settlements where state = 'confirmed' and scheme = 'exact'
     order by caller <> 'anonymous', created_at limit 5`,
  )
  const ids = z.array(z.object({ id: z.string() })).parse(rows)
  // Those of the account last: an event or a quota that it has would not be missing.
  const [owned, told, amount, failed, fewer] = ids.map(({ id }) => id)
  const [account, unknown] = [randomUUID(), randomUUID()]
  const plants: readonly (readonly [string, readonly unknown[], readonly Planted[]])[] = [
    [
      'update settlements set settled_amount = amount - 1 where id = $1',
      [amount],
      [{ kind: 'payment_differs', settlementId: amount ?? '' }],
    ],
    [
      `update settlements set state = 'failed', reason = 'transaction_failed', settled_amount = null, block_number = null,
         block_hash = null, is_final = false where id = $1`,
      [failed],
      [{ kind: 'payment_unrecorded', settlementId: failed ?? '' }],
    ],
    [
      'update settlements set amount = amount + 1, authorized_amount = authorized_amount + 1, settled_amount = amount + 1 where id = $1',
      [fewer],
      [{ kind: 'payment_missing', settlementId: fewer ?? '' }],
    ],
    [
      'update settlements set caller = $2 where id = $1',
      [owned, account],
      [
        { kind: 'event_missing', settlementId: owned ?? '' },
        { kind: 'quota_uncounted', settlementId: owned ?? '' },
        { kind: 'fee_missing', settlementId: owned ?? '' },
        { kind: 'days_differ' },
      ],
    ],
    [
      `insert into webhook_deliveries (account_id, type, settlement_id, data, state, due_at)
       values ($2, 'settlement.confirmed', $1, '{"status": "confirmed", "amount": "1", "transaction": ""}', 'failed', null)`,
      [told, account],
      [
        { kind: 'event_differs', settlementId: told ?? '' },
        { kind: 'event_undelivered', settlementId: told ?? '' },
      ],
    ],
    [
      `insert into webhook_deliveries (account_id, type, settlement_id, data, state, due_at)
       values ($1, 'settlement.confirmed', $2, '{"network": "eip155:1"}', 'failed', null)`,
      [account, unknown],
      [{ kind: 'settlement_missing', settlementId: unknown }],
    ],
    ['update settlement_totals set failed = failed + 1 where slot = 0', [], [{ kind: 'totals_differ' }]],
    [
      'insert into open_settlements values ($1)',
      [amount],
      [{ kind: 'open_list_differs', settlementId: amount ?? '' }],
    ],
    [
      `insert into unfinal_settlements (network, block_number, block_hash, settlement_id, scheme)
       values ('eip155:1', 1, '0x1', $1, 'exact')`,
      [failed],
      [{ kind: 'unfinal_list_differs', settlementId: failed ?? '' }],
    ],
    [
      `insert into quota_uses (account_id, month, used) values ($1, date_trunc('month', now() at time zone 'utc'), 1)`,
      [account],
      [{ kind: 'quota_differs' }],
    ],
  ]
  for (const [sql, values] of plants) await pool.query(sql, [...values])
  return plants.flatMap(([, , planted]) => planted)
}
