import { randomUUID } from 'node:crypto'
import fc from 'fast-check'
import { beforeEach, describe, expect, it } from 'vitest'
import type { QuotaCharge, Quotas } from '../../../../src/ports/quotas.js'
import type {
  ConfirmedBlock,
  Settlement,
  SettlementClaim,
  SettlementJournal,
} from '../../../../src/ports/settlementJournal.js'
import { tiers } from '../../../../src/protocol/tiers.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createQuotas } from '../../../../src/stores/postgres/quota/quotas.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance } from '../../../support/instances.js'
import { countRuns } from '../../../support/longRun.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'

const now = new Date('2026-05-17T12:00:00Z')
const free: QuotaCharge = { tier: tiers.free, at: now }
const limit = tiers.free.monthlyQuota

describe('quotas', () => {
  usePatientQueues()
  const database = useTestDatabase()
  /** Of two instances that share the database. */
  let journal: SettlementJournal
  let theirJournal: SettlementJournal

  const { pool } = database
  const quotas = createQuotas(pool)

  const start = async () => {
    await emptyTables(
      pool,
      'consumed_authorizations',
      'settlements',
      'signer_lanes',
      'instances',
      'quota_uses',
    )
    journal = createSettlementJournal(pool, await addInstance(pool))
    theirJournal = createSettlementJournal(database.otherPool, await addInstance(pool))
  }
  beforeEach(start)

  const readUsed = async (accountId: string, at = now) => (await quotas.readUse(accountId, at)).used
  const setUsed = (accountId: string, used: number) =>
    pool.query(
      `insert into quota_uses (account_id, month, used) values ($1, '2026-05-01', $2)
       on conflict (account_id, month) do update set used = excluded.used`,
      [accountId, used],
    )
  const claim = async (
    changes: Partial<SettlementClaim> = {},
    { by = journal, quota = free }: { readonly by?: SettlementJournal; readonly quota?: QuotaCharge } = {},
  ): Promise<Settlement> => {
    const settlement = await by.claim(claimOf({ caller: 'ada', ...changes }), quota)
    if (settlement === null) throw new Error('The authorization has a row already')
    return settlement
  }
  type Answer = 'opened' | 'duplicate' | 'exhausted'
  const attempt = async (by: SettlementJournal, claimed: SettlementClaim, quota: QuotaCharge = free) => {
    try {
      return (await by.claim(claimed, quota)) === null ? 'duplicate' : 'opened'
    } catch (error) {
      expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED' })
      return 'exhausted'
    }
  }
  const countAnswers = (answers: readonly Answer[]) => ({
    opened: answers.filter((answer) => answer === 'opened').length,
    duplicate: answers.filter((answer) => answer === 'duplicate').length,
    exhausted: answers.filter((answer) => answer === 'exhausted').length,
  })
  const countHeld = async (caller: string): Promise<number> => {
    const { rows } = await pool.query<{ count: string }>(
      "select count(*) from settlements where caller = $1 and (state <> 'failed' or transaction is not null)",
      [caller],
    )
    return Number(rows[0]?.count)
  }

  describe('a claim', () => {
    it('counts against its caller in the current month', async () => {
      expect(await quotas.readUse('ada', now)).toEqual({
        monthStartsAt: new Date('2026-05-01T00:00:00Z'),
        used: 0,
      })
      await claim()
      await claim()
      await claim({ caller: 'bob' })
      expect([await readUsed('ada'), await readUsed('bob')]).toEqual([2, 1])
    })

    it('counts nothing without a quota', async () => {
      await journal.claim(claimOf({ caller: 'anonymous' }))
      await journal.claim(claimOf({ caller: 'ada' }), null)
      expect([await readUsed('anonymous'), await readUsed('ada')]).toEqual([0, 0])
    })

    it('counts nothing for an authorization that already has a row', async () => {
      const { authorizationId } = await claim()
      expect(await journal.claim(claimOf({ caller: 'ada', authorizationId }), free)).toBeNull()
      expect(await theirJournal.claim(claimOf({ caller: 'bob', authorizationId }), free)).toBeNull()
      expect([await readUsed('ada'), await readUsed('bob')]).toEqual([1, 0])
    })

    it('is refused when the quota is exhausted, until the first of the next month, without a row', async () => {
      await setUsed('ada', limit)
      const asked = claimOf({ caller: 'ada' })
      await expect(journal.claim(asked, free)).rejects.toMatchObject({
        code: 'QUOTA_EXCEEDED',
        retryAfterSeconds: (Date.parse('2026-06-01T00:00:00Z') - now.getTime()) / 1_000,
      })
      expect(await journal.findOpen(asked.authorizationId)).toBeNull()
      expect(await readUsed('ada')).toBe(limit)
    })

    it('is a duplicate for an authorization with a row, even when the quota is exhausted', async () => {
      const { authorizationId } = await claim()
      await setUsed('ada', limit)
      expect(await journal.claim(claimOf({ caller: 'ada', authorizationId }), free)).toBeNull()
    })

    it('uses the current tier, and is never refused without a limit', async () => {
      await setUsed('ada', limit)
      await claim({}, { quota: { tier: tiers.builder, at: now } })
      await setUsed('ada', tiers.scale.monthlyQuota)
      await claim({}, { quota: { tier: tiers.enterprise, at: now } })
      expect(await readUsed('ada')).toBe(tiers.scale.monthlyQuota + 1)
    })

    it('starts from zero at 00:00 UTC on the first', async () => {
      await setUsed('ada', limit)
      const lastMoment = new Date('2026-05-31T23:59:59.999Z')
      const firstMoment = new Date('2026-06-01T00:00:00.000Z')
      const late = claim({}, { quota: { tier: tiers.free, at: lastMoment } })
      await expect(late).rejects.toMatchObject({ code: 'QUOTA_EXCEEDED', retryAfterSeconds: 1 })
      await claim({}, { quota: { tier: tiers.free, at: firstMoment } })
      expect([await readUsed('ada', lastMoment), await readUsed('ada', firstMoment)]).toEqual([limit, 1])
    })
  })

  describe('concurrent claims', () => {
    it('use exactly what is left: 1,000 of 1,500 through two instances', async () => {
      const attempts = Array.from({ length: 1_500 }, (_, index) =>
        attempt(index % 2 === 0 ? journal : theirJournal, claimOf({ caller: 'ada' })),
      )
      expect(countAnswers(await Promise.all(attempts))).toEqual({
        opened: 1_000,
        duplicate: 0,
        exhausted: 500,
      })
      expect([await readUsed('ada'), await countHeld('ada')]).toEqual([1_000, 1_000])
    })

    it('in one batch use the last slots in order of arrival', async () => {
      await setUsed('ada', limit - 2)
      const claims = Array.from({ length: 5 }, () => claimOf({ caller: 'ada' }))
      const answers = await Promise.all(claims.map((each) => attempt(journal, each)))
      expect(answers).toEqual(['opened', 'opened', 'exhausted', 'exhausted', 'exhausted'])
    })

    it('in one batch for one authorization count once, at the position of the first', async () => {
      await setUsed('ada', limit - 1)
      const contested = claimOf({ caller: 'ada' })
      const claims = [contested, claimOf({ caller: 'ada' }), contested]
      const answers = await Promise.all(claims.map((each) => attempt(journal, each)))
      expect(answers).toEqual(['opened', 'exhausted', 'duplicate'])
    })

    it('for the same authorizations use every slot exactly once', async () => {
      await setUsed('ada', limit - 60)
      const ids = Array.from({ length: 40 }, () => randomUUID())
      const fresh = Array.from({ length: 40 }, () => randomUUID())
      const asked = [...ids, ...ids, ...fresh, ...ids].map((authorizationId) =>
        claimOf({ caller: 'ada', authorizationId }),
      )
      const attempts = asked.flatMap((each) => [attempt(journal, each), attempt(theirJournal, each)])
      const { opened } = countAnswers(await Promise.all(attempts))
      expect([opened, await readUsed('ada'), await countHeld('ada')]).toEqual([60, limit, 60])
    })

    it('pass the slot of a duplicate to the next claim', async () => {
      await setUsed('ada', limit - 1)
      const { authorizationId } = await claim({}, { quota: { tier: tiers.builder, at: now } })
      await setUsed('ada', limit - 1)
      const answers = await Promise.all([
        attempt(journal, claimOf({ caller: 'ada', authorizationId })),
        attempt(journal, claimOf({ caller: 'ada' })),
      ])
      expect(answers).toEqual(['duplicate', 'opened'])
    })

    it('of several accounts do not affect each other, or anonymous callers', async () => {
      await setUsed('ada', limit)
      await setUsed('bob', limit - 1)
      const answers = await Promise.all([
        attempt(journal, claimOf({ caller: 'ada' })),
        attempt(journal, claimOf({ caller: 'bob' })),
        attempt(journal, claimOf({ caller: 'bob' })),
        attempt(journal, claimOf({ caller: 'cleo' })),
        journal.claim(claimOf()).then((opened) => (opened === null ? 'duplicate' : 'opened')),
      ])
      expect(answers).toEqual(['exhausted', 'opened', 'exhausted', 'opened', 'opened'])
    })
  })

  describe('the quota use of a settlement', () => {
    const record = async ({ id }: Settlement): Promise<void> =>
      journal.recorderFor(id).record({ transaction: `tx ${id}`, bytes: 'bytes' })
    const blockOf = (id: string) => ({ number: 1n, hash: `0x${id}` })
    const paidIn = (id: string): ConfirmedBlock => ({
      network: 'eip155:84532',
      scheme: 'exact',
      block: blockOf(id),
    })
    const confirm = async (settlement: Settlement) => {
      await record(settlement)
      await journal.close(settlement.id, {
        state: 'confirmed',
        transaction: `tx ${settlement.id}`,
        block: blockOf(settlement.id),
      })
    }
    const failed = { state: 'failed', reason: 'insufficient_funds' } as const

    it('is refunded once when it fails, to its own month', async () => {
      const may = await claim()
      await claim()
      await claim({}, { quota: { tier: tiers.free, at: new Date('2026-06-02T00:00:00Z') } })
      expect(
        await Promise.all([journal.close(may.id, failed), theirJournal.close(may.id, failed)]),
      ).toContain(false)
      await journal.close(may.id, failed)
      await journal.abandon(may.id)
      expect([await readUsed('ada'), await readUsed('ada', new Date('2026-06-30T00:00:00Z'))]).toEqual([1, 1])
    })

    it('is refunded once when it is abandoned', async () => {
      const settlement = await claim()
      const answers = await Promise.all([journal.abandon(settlement.id), journal.abandon(settlement.id)])
      expect(answers.sort()).toEqual([false, true])
      expect(await readUsed('ada')).toBe(0)
    })

    it('stays while another instance may own it, and is refunded when none does', async () => {
      const dead = await addInstance(pool)
      const settlement = await claim({}, { by: createSettlementJournal(pool, dead) })
      expect(await journal.abandon(settlement.id)).toBe(false)
      expect(await readUsed('ada')).toBe(1)
      await killInstance(pool, dead)
      expect(await journal.abandon(settlement.id)).toBe(true)
      expect(await readUsed('ada')).toBe(0)
    })

    it('stays for a confirmed settlement, also when it is reorged and confirmed again', async () => {
      const settlement = await claim()
      await confirm(settlement)
      await createConfirmedBlocks(pool).reopen(paidIn(settlement.id))
      await journal.close(settlement.id, { state: 'confirmed', transaction: `tx ${settlement.id}` })
      expect(await readUsed('ada')).toBe(1)
    })

    it('stays when the block is orphaned and the payment fails: its transaction cost gas', async () => {
      const settlement = await claim()
      await claim()
      await confirm(settlement)
      await createConfirmedBlocks(pool).reopen(paidIn(settlement.id))
      const closings = [journal, theirJournal, journal].map((each) => each.close(settlement.id, failed))
      expect((await Promise.all(closings)).filter(Boolean)).toHaveLength(1)
      expect(await readUsed('ada')).toBe(2)
    })

    it('stays when a recorded transaction reverts (A43)', async () => {
      const settlement = await claim()
      await journal.recorderFor(settlement.id).record({ transaction: '0xreverted', bytes: '0x' })
      await journal.close(settlement.id, { ...failed, transaction: '0xreverted' })
      expect(await readUsed('ada')).toBe(1)
    })

    it('is refunded for each of several failures in one batch', async () => {
      const opened = await Promise.all(Array.from({ length: 30 }, () => claim()))
      const others = await Promise.all(Array.from({ length: 10 }, () => claim({ caller: 'bob' })))
      await Promise.all(
        [...opened.slice(0, 20), ...others].map(({ id }, index) =>
          (index % 2 === 0 ? journal : theirJournal).close(id, failed),
        ),
      )
      expect([await readUsed('ada'), await readUsed('bob')]).toEqual([10, 0])
    })

    it('can be used again: a failure frees the last slot of the month', async () => {
      await setUsed('ada', limit - 1)
      const { id, authorizationId } = await claim()
      expect(await attempt(journal, claimOf({ caller: 'ada' }))).toBe('exhausted')
      await journal.close(id, failed)
      expect(await attempt(journal, claimOf({ caller: 'ada', authorizationId }))).toBe('opened')
    })

    it('never prevents closing, even when its row is missing', async () => {
      const first = await claim()
      const second = await claim()
      await setUsed('ada', 0)
      expect(await journal.close(first.id, failed)).toBe(true)
      await emptyTables(pool, 'quota_uses')
      expect(await journal.close(second.id, failed)).toBe(true)
    })
  })

  describe('while another statement locks the month', () => {
    /** Runs work while a month's row is locked; returns its result after the lock is released. */
    const whileLocked = async <T>(begin: () => Promise<T>, meanwhile: () => Promise<void>): Promise<T> => {
      const client = await database.otherPool.connect()
      try {
        await client.query("begin; select 1 from quota_uses where account_id = 'ada' for update")
        const begun = begin()
        await pollUntil(isSomeoneWaiting, 'the statement to wait for the month')
        await meanwhile()
        await client.query('commit')
        return await begun
      } finally {
        client.release(true)
      }
    }
    const isSomeoneWaiting = async () => {
      const { rowCount } = await pool.query(
        "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      )
      return (rowCount ?? 0) > 0
    }

    it('a claim locks no authorization, and the slot of a new duplicate goes to the next claim', async () => {
      await setUsed('ada', limit - 1)
      const contested = claimOf({ caller: 'ada' })
      const answers = await whileLocked(
        () => Promise.all([attempt(journal, contested), attempt(journal, claimOf({ caller: 'ada' }))]),
        async () => {
          const { authorizationId } = contested
          expect(await theirJournal.claim(claimOf({ authorizationId }))).not.toBeNull()
        },
      )
      expect(answers).toEqual(['duplicate', 'opened'])
      expect(await readUsed('ada')).toBe(limit)
    })

    it.each(['close', 'abandon'] as const)('%s locks no settlement', async (verb) => {
      const { id } = await claim()
      const closed = await whileLocked(
        () =>
          verb === 'abandon'
            ? journal.abandon(id)
            : journal.close(id, { state: 'failed', reason: 'insufficient_funds' }),
        async () => {
          await pool.query('select 1 from settlements where id = $1 for update nowait', [id])
        },
      )
      expect(closed).toBe(true)
      expect(await readUsed('ada')).toBe(0)
    })

    it('a payment is confirmed without waiting', async () => {
      const { id } = await claim()
      const other = await claim()
      await whileLocked(
        () => journal.abandon(other.id),
        async () => {
          expect(await journal.close(id, { state: 'confirmed', transaction: 't' })).toBe(true)
        },
      )
    })
  })

  describe('under concurrency', () => {
    const account = fc.constantFrom('ada', 'bob', 'cleo')
    const authorization = fc.constantFrom(
      ...Array.from({ length: 8 }, (_, index) => `authorization ${index}`),
    )
    const isTheirs = fc.boolean()
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ does: fc.constant('claim' as const), isTheirs, account, authorization }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          does: fc.constantFrom('fail' as const, 'abandon' as const, 'confirm' as const, 'takeBack' as const),
          isTheirs,
          row: fc.nat(7),
        }),
      },
    )
    const left = 3
    const churnRounds = countRuns(20, 60)

    it("each account's use equals its settlements and never exceeds its quota", async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { maxLength: 6 }),
          async (rounds) => {
            await start()
            const blocks = createConfirmedBlocks(pool)
            for (const name of ['ada', 'bob', 'cleo']) await setUsed(name, limit - left)
            const rows: string[] = []
            const perform = async (
              next: typeof step extends fc.Arbitrary<infer Step> ? Step : never,
              known: readonly string[],
            ) => {
              const by = next.isTheirs ? theirJournal : journal
              if (next.does === 'claim') {
                const { account: caller, authorization: authorizationId } = next
                const opened = await by
                  .claim(claimOf({ caller, authorizationId }), free)
                  .catch((error: unknown) => {
                    expect(error).toMatchObject({ code: 'QUOTA_EXCEEDED' })
                    return null
                  })
                if (opened !== null) rows.push(opened.id)
                return
              }
              const id = known[next.row]
              if (id === undefined) return
              const block = { number: 1n, hash: id }
              switch (next.does) {
                case 'fail':
                  await by.close(id, { state: 'failed', reason: 'insufficient_funds' })
                  return
                case 'abandon':
                  await by.abandon(id)
                  return
                case 'confirm':
                  await by.close(id, { state: 'confirmed', transaction: `paid ${id}`, block })
                  return
                case 'takeBack':
                  await blocks.reopen({ network: 'eip155:84532', scheme: 'exact', block })
              }
            }
            for (const steps of rounds) {
              const known = [...rows]
              await Promise.all(steps.map((next) => perform(next, known)))
              for (const name of ['ada', 'bob', 'cleo']) {
                const held = await countHeld(name)
                expect(await readUsed(name)).toBe(limit - left + held)
                expect(held).toBeLessThanOrEqual(left)
              }
            }
          },
        ),
        { numRuns: countRuns(15, 40) },
      )
    })

    it('no statements deadlock', async () => {
      const ids = Array.from({ length: 6 }, (_, index) => `authorization ${index}`)
      const callers = ['ada', 'bob', 'cleo']
      const churn = async (by: SettlementJournal, place: number) => {
        for (let round = 0; round < churnRounds; round += 1) {
          const authorizationId = ids[(place + round) % ids.length] ?? ''
          const caller = callers[(place * 7 + round) % callers.length] ?? ''
          const opened = await by.claim(claimOf({ caller, authorizationId }), free)
          const id = (opened ?? (await by.findOpen(authorizationId)))?.id
          if (id === undefined) continue
          if (round % 3 === 0) await by.abandon(id)
          else await by.close(id, { state: 'failed', reason: 'insufficient_funds' })
        }
      }
      const journals = await Promise.all(
        Array.from({ length: 4 }, async () => createSettlementJournal(pool, await addInstance(pool))),
      )
      await Promise.all(journals.flatMap((by) => [0, 1, 2, 3].map((place) => churn(by, place))))
      const { rows } = await pool.query<{ deadlocks: string }>(
        `select pg_stat_force_next_flush(), deadlocks from pg_stat_database where datname = current_database()`,
      )
      expect(rows[0]?.deadlocks).toBe('0')
      for (const caller of callers) expect(await readUsed(caller)).toBe(await countHeld(caller))
    })

    it('sequential results match a reference model', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
          await start()
          for (const name of ['ada', 'bob', 'cleo']) await setUsed(name, limit - left)
          const model: {
            id: string
            caller: string
            authorizationId: string
            state: 'open' | 'confirmed' | 'failed'
          }[] = []
          const isHeld = (row: (typeof model)[number]) => row.state !== 'failed'
          for (const next of steps) {
            const by = next.isTheirs ? theirJournal : journal
            if (next.does === 'claim') {
              const { account: caller, authorization: authorizationId } = next
              const isDuplicate = model.some((row) => isHeld(row) && row.authorizationId === authorizationId)
              const used = model.filter((row) => isHeld(row) && row.caller === caller).length
              const claimed = claimOf({ caller, authorizationId })
              const answer = await attempt(by, claimed)
              expect(answer).toBe(isDuplicate ? 'duplicate' : used < left ? 'opened' : 'exhausted')
              const opened = answer === 'opened' ? await by.findOpen(authorizationId) : null
              if (opened !== null) model.push({ id: opened.id, caller, authorizationId, state: 'open' })
              continue
            }
            const row = model[next.row]
            if (row === undefined || next.does === 'takeBack') continue
            if (next.does === 'confirm') {
              const isClosed = await by.close(row.id, { state: 'confirmed', transaction: `paid ${row.id}` })
              expect(isClosed).toBe(row.state === 'open')
              if (isClosed) row.state = 'confirmed'
              continue
            }
            const isFailed =
              next.does === 'fail'
                ? await by.close(row.id, { state: 'failed', reason: 'insufficient_funds' })
                : await by.abandon(row.id)
            // Only its owner may abandon it while both live.
            if (next.does === 'fail') expect(isFailed).toBe(row.state === 'open')
            if (isFailed) row.state = 'failed'
          }
          for (const name of ['ada', 'bob', 'cleo']) {
            const held = model.filter((row) => isHeld(row) && row.caller === name).length
            expect(await readUsed(name)).toBe(limit - left + held)
          }
        }),
        { numRuns: countRuns(15, 40) },
      )
    })
  })

  describe('days', () => {
    const putOn = async (at: string, caller = 'ada') => {
      const settlement = await claim({ caller })
      // Opened again at that time: a settlement never moves to another day.
      const { rows } = await pool.query(
        'delete from settlements s where id = $1 returning to_jsonb(s) as row',
        [settlement.id],
      )
      await pool.query(
        `insert into settlements select * from jsonb_populate_record(
           null::settlements, $1::jsonb || jsonb_build_object('created_at', $2::text))`,
        [JSON.stringify(rows[0]?.row), at],
      )
      return settlement
    }

    it('are complete, oldest first, including those without settlements', async () => {
      expect(await quotas.listDays('ada', 7, now)).toEqual(
        ['11', '12', '13', '14', '15', '16', '17'].map((day) => ({ date: `2026-05-${day}`, count: 0 })),
      )
    })

    it("start and end at 00:00 UTC, independent of the database's time zone", async () => {
      await putOn('2026-05-10T23:59:59.999Z')
      await putOn('2026-05-11T00:00:00.000Z')
      await putOn('2026-05-16T23:59:59.999Z')
      await putOn('2026-05-17T00:00:00.000Z')
      await putOn('2026-05-17T23:59:59.999Z')
      await putOn('2026-05-18T00:00:00.000Z')
      const expected = { '2026-05-11': 1, '2026-05-16': 1, '2026-05-17': 2 }
      const read = async (by: Quotas) =>
        Object.fromEntries(
          (await by.listDays('ada', 7, now))
            .filter(({ count }) => count > 0)
            .map(({ date, count }) => [date, count]),
        )
      expect(await read(quotas)).toEqual(expected)
      const url = new URL(database.url)
      url.searchParams.set('options', '-cTimeZone=Pacific/Kiritimati')
      const faraway = openPool({ url: url.href, maxConnections: 1, onError: () => undefined })
      try {
        expect((await faraway.query('show timezone')).rows).toEqual([{ TimeZone: 'Pacific/Kiritimati' }])
        expect(await read(createQuotas(faraway))).toEqual(expected)
      } finally {
        await faraway.end()
      }
    })

    it('count what a quota counts: no failures, and no other accounts', async () => {
      const { id } = await putOn('2026-05-17T10:00:00Z')
      await putOn('2026-05-17T10:00:00Z')
      await putOn('2026-05-17T10:00:00Z', 'bob')
      await journal.close(id, { state: 'failed', reason: 'insufficient_funds' })
      expect((await quotas.listDays('ada', 1, now)).at(-1)).toEqual({ date: '2026-05-17', count: 1 })
    })
  })

  describe('the fee ledger', () => {
    const readFees = async () => {
      const { rows } = await pool.query(
        'select settlement_id, account_id, amount, fee_rate, fee from fee_ledger order by fee',
      )
      return rows
    }
    const builder: QuotaCharge = { tier: tiers.builder, at: now }
    const close = (id: string) =>
      journal.close(id, { state: 'confirmed', transaction: 't', block: { number: 1n, hash: '0x1' } })

    it('has the exact fee of each confirmed settlement of an account, at the rate of its claim', async () => {
      const large = await claim({ amount: 10n ** 60n + 1n }, { quota: builder })
      const small = await claim({ amount: 1n }, { quota: { tier: tiers.scale, at: now } })
      const free = await claim({ amount: 5n })
      const anonymous = await journal.claim(claimOf())
      for (const id of [large.id, small.id, free.id, anonymous?.id ?? '']) await close(id)
      expect(await readFees()).toEqual([
        { settlement_id: free.id, account_id: 'ada', amount: '5', fee_rate: '0', fee: '0' },
        { settlement_id: small.id, account_id: 'ada', amount: '1', fee_rate: '0.0008', fee: '0.0008' },
        {
          settlement_id: large.id,
          account_id: 'ada',
          amount: `${10n ** 60n + 1n}`,
          fee_rate: '0.001',
          fee: `${10n ** 57n}.001`,
        },
      ])
    })

    it('has no entry for open, failed or reorged settlements', async () => {
      const paid = await claim({}, { quota: builder })
      const failed = await claim({}, { quota: builder })
      await claim({}, { quota: builder })
      await close(paid.id)
      await journal.close(failed.id, { state: 'failed', reason: 'insufficient_funds' })
      expect(await readFees()).toHaveLength(1)
      await createConfirmedBlocks(pool).reopen({
        network: 'eip155:84532',
        scheme: 'exact',
        block: { number: 1n, hash: '0x1' },
      })
      expect(await readFees()).toEqual([])
    })
  })
})
