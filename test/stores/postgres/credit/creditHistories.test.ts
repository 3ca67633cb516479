import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import type { SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import { createCreditStore } from '../../../../src/stores/postgres/credit/creditStore.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import {
  closeSettlements,
  createSettlementJournal,
} from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { countCredit, listPayments, openPayments } from '../../../support/creditModel.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { countRuns } from '../../../support/longRun.js'
import { waitLimitMs } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'

const network = 'eip155:84532'
const wallets = ['a', 'b', 'c', 'd', 'e']
const start = Date.UTC(2026, 0, 1)

const wallet = fc.constantFrom(...wallets)
const payment = fc.record({
  payer: wallet,
  payee: wallet,
  amount: fc.constantFrom(9_999n, 10_000n, 1_000_000n, 600_000_000n),
  decimals: fc.constantFrom(6, 6, 6, null),
  /** Of this payer for this payee and asset. */
  authorization: fc.nat(2),
  day: fc.nat(20),
})
const close = fc.record({
  row: fc.nat(1_000),
  outcome: fc.constantFrom('confirmed', 'confirmed', 'insufficient_funds', 'gas_limit_exceeded' as const),
  block: fc.nat(2),
  by: fc.boolean(),
})
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant('open' as const),
      payments: fc.array(payment, { minLength: 1, maxLength: 8 }),
    }),
  },
  {
    weight: 6,
    // Concurrently, from two instances, in batches.
    arbitrary: fc.record({
      does: fc.constant('close' as const),
      closes: fc.array(close, { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ does: fc.constant('takeBack' as const), block: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('date' as const) }) },
)

describe('credit facts under arbitrary histories', () => {
  const { pool, otherPool } = useTestDatabase()
  let journals: readonly [SettlementJournal, SettlementJournal]
  const blocks = createConfirmedBlocks(otherPool)
  const store = createCreditStore(pool, pool, { recountTimeoutMs: waitLimitMs })
  beforeAll(async () => {
    journals = [
      createSettlementJournal(pool, await addInstance(pool)),
      createSettlementJournal(otherPool, await addInstance(pool)),
    ]
  })

  const blockOf = (number: number) => ({ number: BigInt(number), hash: `0x${number}` })
  const listOpen = async (): Promise<readonly string[]> =>
    (
      await pool.query<{ id: string }>(
        "select id from settlements where state in ('claimed', 'pending') order by created_at, authorization_id",
      )
    ).rows.map(({ id }) => id)

  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

  const run = async (each: Step): Promise<unknown> => {
    switch (each.does) {
      case 'open':
        // Of an authorization, at most one settlement is open or confirmed.
        for (const { authorization, day, ...given } of each.payments) {
          const { payer, payee, decimals } = given
          const authorizationId = [payer, payee, decimals, authorization].join('/')
          const { rowCount } = await pool.query(
            "select 1 from settlements where authorization_id = $1 and state <> 'failed'",
            [authorizationId],
          )
          if (rowCount !== 0) continue
          const createdAt = new Date(start + day * 86_400_000)
          await openPayments(pool, [{ ...given, authorizationId, createdAt }])
        }
        return
      case 'close': {
        const open = await listOpen()
        return await Promise.all(
          each.closes.map(({ row, outcome, block, by }) => {
            const id = open[row % Math.max(1, open.length)]
            if (id === undefined) return undefined
            const journal = journals[by ? 0 : 1]
            return outcome === 'confirmed'
              ? journal.close(id, { state: 'confirmed', transaction: id, block: blockOf(block) })
              : journal.close(id, { state: 'failed', reason: outcome })
          }),
        )
      }
      case 'takeBack':
        return await blocks.reopen({ network, scheme: 'exact', block: blockOf(each.block) })
      case 'date':
        return await store.findLostDates(new AbortController().signal)
    }
  }

  const readAll = async () =>
    new Map(
      (await store.read(wallets.map((name) => `eip155:${name}`))).map(({ wallet: key, facts }) => [
        key,
        facts,
      ]),
    )
  const withoutNothing = (
    facts: ReadonlyMap<string, { payments: number; returnedPayments: number; failures: number }>,
  ) =>
    Object.fromEntries(
      [...facts]
        .filter(([, { payments, returnedPayments, failures }]) => payments + returnedPayments + failures > 0)
        .sort(),
    )

  it('equal a count of the journal, and a recount finds nothing to repair', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 24, size: 'max' }), async (steps) => {
        await emptyTables(pool, 'consumed_authorizations', 'settlements')
        for (const each of steps) await run(each)
        const facts = await readAll()
        expect(withoutNothing(facts)).toEqual(withoutNothing(countCredit(await listPayments(pool))))
        for (const name of wallets) {
          expect(await store.recount(`eip155:${name}`)).toEqual({ isComplete: true, repairs: 0 })
        }
        // Counted from the start, as by the migration.
        await pool.query('select rebuild_credit()')
        expect(withoutNothing(await readAll())).toEqual(withoutNothing(facts))
      }),
      { numRuns: countRuns(20, 60) },
    )
  })

  it('equal a count of the journal after many statements at once, none of which deadlocks', async () => {
    await emptyTables(pool, 'consumed_authorizations', 'settlements')
    const statements = 80
    const names = Array.from({ length: 12 }, (_each, index) => `w${index}`)
    const keys = names.map((name) => `eip155:${name}`)
    const payments = fc.sample(
      fc.record({ payer: fc.constantFrom(...names), payee: fc.constantFrom(...names) }),
      { numRuns: 20 * statements, seed: 7 },
    )
    const ids = await openPayments(pool, payments)
    // The journal itself would send a statement that deadlocked once more, row by row.
    const close = [closeSettlements(pool), closeSettlements(otherPool)]
    const closings = ids.map((id, index) => ({
      id,
      consumer: undefined,
      closing:
        index % 9 === 0
          ? ({ state: 'failed', reason: 'insufficient_funds' } as const)
          : ({ state: 'confirmed', transaction: id, block: blockOf(index % 3) } as const),
    }))
    const batches = Array.from({ length: statements }, (_each, batch) =>
      closings.filter((_, index) => index % statements === batch),
    )
    await Promise.all(
      batches.map(async (batch, index) => {
        const closed = await close[index % 2]?.(batch, Number.POSITIVE_INFINITY)
        expect(closed).not.toContain(false)
        await store.read(keys)
        if (index % 4 === 0) expect((await store.recount(keys[index % 12] ?? '')).repairs).toBe(0)
        if (index % 10 === 0) {
          await blocks.reopen({ network, scheme: 'exact', block: blockOf(index % 3) })
        }
      }),
    )
    const facts = new Map((await store.read(keys)).map(({ wallet: key, facts: each }) => [key, each]))
    expect(withoutNothing(facts)).toEqual(withoutNothing(countCredit(await listPayments(pool))))
    expect(await store.findLostDates(new AbortController().signal)).toBe(false)
  })
})
