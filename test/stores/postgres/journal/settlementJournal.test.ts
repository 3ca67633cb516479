import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { silentLogger } from '../../../../src/platform/logger.js'
import type {
  Lane,
  Settlement,
  SettlementClaim,
  SettlementJournal,
  SignedTransaction,
} from '../../../../src/ports/settlementJournal.js'
import type { SignerLanes, SignNumbered } from '../../../../src/ports/signerLanes.js'
import { announceInstance, type Instance } from '../../../../src/stores/postgres/database/instance.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { describeSettlementJournal } from '../../../contracts/settlementJournalContract.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance, killInstance } from '../../../support/instances.js'
import { pollUntil } from '../../../support/pollUntil.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { recordInLane } from '../../../support/recordInLane.js'
import { findWorkDifferences } from '../../../support/workTables.js'

const network = 'eip155:84532'
const lane: Lane = { network, signer: '0x1111111111111111111111111111111111111111' }

const signedAs = (transaction: string): SignedTransaction => ({
  transaction,
  bytes: `bytes of ${transaction}`,
})

const database = useTestDatabase()
const { pool, otherPool } = database
const empty = () => emptyTables(pool, 'consumed_authorizations', 'settlements', 'signer_lanes', 'instances')

describeSettlementJournal('the settlement journal', async () => {
  await empty()
  return {
    journal: createSettlementJournal(pool, await addInstance(pool)),
    theirs: createSettlementJournal(otherPool, await addInstance(pool)),
    blocks: createConfirmedBlocks(pool),
    close: async () => expect(await findWorkDifferences(pool)).toEqual([]),
  }
})

/** The lanes of the journal's instance. */
const lanesOf = new Map<SettlementJournal, SignerLanes>()

const recordOne = (
  journal: SettlementJournal,
  id: string,
  sign: SignNumbered,
): Promise<SignedTransaction> => {
  const lanes = lanesOf.get(journal)
  if (lanes === undefined) throw new Error('The journal has no lanes')
  return recordInLane({ journal, lanes }, id, { lane, sign })
}

/** Both ways to record one transaction. */
const waysToRecord = [
  {
    way: 'record',
    record: async (journal: SettlementJournal, id: string, signed: SignedTransaction) => {
      await journal.recorderFor(id).record(signed)
    },
  },
  {
    way: 'record in a lane',
    record: async (journal: SettlementJournal, id: string, signed: SignedTransaction) => {
      await recordOne(journal, id, async () => signed)
    },
  },
] as const

describe('a claim in a database whose clock stands still', () => {
  const still = useTestDatabase({ stopsClock: true })

  it.each([
    ['10 seconds', '3 minutes', true],
    ['9.9 seconds', '3 minutes', true],
    ['10 seconds', '2 minutes 59 seconds', true],
    ['9.9 seconds', '2 minutes 59 seconds', false],
  ])('after %s without a heartbeat and %s of work is abandoned: %s', async (silence, work, isAbandoned) => {
    const theirs = await addInstance(still.pool)
    const claimed = await createSettlementJournal(still.otherPool, theirs).claim(claimOf())
    await still.pool.query('update instances set seen_at = now() - $1::interval', [silence])
    await still.pool.query('update settlements set created_at = now() - $1::interval', [work])
    const ours = createSettlementJournal(still.pool, await addInstance(still.pool))
    expect(await ours.abandon(claimed?.id ?? '')).toBe(isAbandoned)
  })
})

describe('the settlement journal', () => {
  /** Two instances that share the database. */
  let ours: Instance
  let theirs: Instance
  let journal: SettlementJournal
  let theirJournal: SettlementJournal

  beforeEach(async () => {
    await empty()
    ours = await appear()
    theirs = await appear()
    journal = createSettlementJournal(pool, ours)
    theirJournal = createSettlementJournal(otherPool, theirs)
    const lanes = createSignerLanes(pool, ours)
    lanesOf.set(journal, lanes)
    lanesOf.set(theirJournal, createSignerLanes(otherPool, theirs))
    await lanes.advance(lane, 0)
  })

  const appear = () => addInstance(pool)
  const die = (instance: Instance) => killInstance(pool, instance)
  const age = (settlement: Settlement, by: string) =>
    pool.query('update settlements set created_at = created_at - $2::interval where id = $1', [
      settlement.id,
      by,
    ])
  const count = async (table: 'broadcasts' | 'settlements'): Promise<number> => {
    const { rows } = await pool.query<{ count: string }>(`select count(*) from ${table}`)
    return Number(rows[0]?.count)
  }
  const nextNonce = async (): Promise<number> => {
    const { rows } = await pool.query<{ next_nonce: string }>('select next_nonce from signer_lanes')
    return Number(rows[0]?.next_nonce)
  }
  const claim = async (changes: Partial<SettlementClaim> = {}, by = journal): Promise<Settlement> => {
    const settlement = await by.claim(claimOf(changes))
    if (settlement === null) throw new Error('The authorization already has an open row')
    return settlement
  }
  const claimAndRecord = async (transaction: string, changes: Partial<SettlementClaim> = {}) => {
    const settlement = await claim(changes)
    await journal.recorderFor(settlement.id).record(signedAs(transaction))
    return settlement
  }
  const confirm = async (transaction: string, changes: Partial<SettlementClaim> = {}) => {
    const settlement = await claimAndRecord(transaction, changes)
    await journal.close(settlement.id, { state: 'confirmed', transaction })
    return settlement
  }
  const isSomeoneWaiting = async (): Promise<boolean> => {
    const { rowCount } = await pool.query(
      `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    )
    return (rowCount ?? 0) > 0
  }

  describe('claim', () => {
    it('stores the authorization id unchanged, including letter case', async () => {
      await claim({ authorizationId: 'Ab' })
      expect(await journal.claim(claimOf({ authorizationId: 'aB' }))).not.toBeNull()
    })

    it('rejects an amount above the authorized amount', async () => {
      await expect(claim({ amount: 11n, authorizedAmount: 10n })).rejects.toThrow('settlements_amounts')
      const { id } = await claim({ amount: 10n, authorizedAmount: 10n })
      const closing = { state: 'confirmed', transaction: '0x1', settledAmount: 11n } as const
      await expect(journal.close(id, closing)).rejects.toThrow('settlements_amounts')
      expect((await journal.find(id))?.state).toBe('claimed')
    })

    it.each([0n, 1n, 2n ** 63n, 2n ** 64n + 1n, 10n ** 77n + 1n, 2n ** 256n - 1n])(
      'stores the amount %s exactly',
      async (amount) => {
        const { id } = await claim({ amount })
        expect((await journal.find(id))?.amount).toBe(amount)
      },
    )

    it.each([
      { expiresAt: null, kept: null },
      { expiresAt: new Date(0), kept: new Date(0) },
      { expiresAt: new Date('9998-12-31T23:59:59.999Z'), kept: new Date('9998-12-31T23:59:59.999Z') },
      // Later than Postgres supports: the maximum of a Date.
      { expiresAt: new Date(8_640_000_000_000_000), kept: null },
      { expiresAt: new Date('+010000-01-01T00:00:00Z'), kept: null },
    ])('keeps that an authorization expires at $expiresAt', async ({ expiresAt, kept }) => {
      const { id } = await claim({ expiresAt })
      expect((await journal.find(id))?.expiresAt).toEqual(kept)
    })

    it.each([
      ["https://shop.example/ü/'; drop table settlements; --/\u{1f4b8}", null],
      // Postgres text cannot store NUL.
      ['https://shop.example/\0a\0', 'https://shop.example/a'],
    ])('stores a resource with arbitrary characters: %j', async (resource, kept) => {
      const { id } = await claim({ resource })
      expect((await journal.find(id))?.resource).toBe(kept ?? resource)
    })
  })

  it('finds nothing under what is no id and no transaction', async () => {
    for (const id of ['not-an-id', '']) expect(await journal.find(id)).toBeNull()
    expect(await journal.listByTransaction(network, '\0')).toEqual([])
  })

  describe('record', () => {
    const failed = { state: 'failed', reason: 'insufficient_funds' } as const
    const afterClaim = (lose: (id: string) => Promise<unknown>) => async () => {
      const { id } = await claim()
      await lose(id)
      return id
    }
    const lost: readonly (readonly [string, () => Promise<string>])[] = [
      [
        'was abandoned',
        afterClaim(async (id) => {
          await die(ours)
          expect(await theirJournal.abandon(id)).toBe(true)
        }),
      ],
      ['is confirmed', afterClaim((id) => journal.close(id, { state: 'confirmed', transaction: '0x9' }))],
      ['is failed', afterClaim((id) => journal.close(id, failed))],
      ['was released to the reconciler', afterClaim((id) => journal.release(id))],
      ['is of another instance', async () => (await claim({}, theirJournal)).id],
      ['does not exist', async () => randomUUID()],
    ]

    describe.each(waysToRecord)('$way', ({ record }) => {
      const expectNothingRecorded = async () => {
        expect(await count('broadcasts')).toBe(0)
        expect(await nextNonce()).toBe(0)
      }

      it('makes the row pending and stores the bytes', async () => {
        const { id } = await claim()
        await record(journal, id, signedAs('0x1'))
        const recorded = { state: 'pending', transaction: '0x1', broadcasts: [signedAs('0x1')] }
        expect(await journal.find(id)).toMatchObject(recorded)
      })

      it.each(lost)('throws and records nothing when the row %s', async (_, reach) => {
        const id = await reach()
        await expect(record(journal, id, signedAs('0x1'))).rejects.toThrow('taken over')
        await expectNothingRecorded()
      })

      it('throws and records nothing when the row is abandoned during the wait for its lock', async () => {
        const settlement = await claim()
        const rival = await otherPool.connect()
        try {
          await rival.query('begin')
          await rival.query(
            `update settlements set state = 'failed', reason = 'settlement_abandoned', owner = null,
               closed_at = now() where id = $1`,
            [settlement.id],
          )
          const recording = record(journal, settlement.id, signedAs('0x1'))
          const refused = expect(recording).rejects.toThrow('taken over')
          await pollUntil(isSomeoneWaiting, 'the wait for the lock')
          await rival.query('commit')
          await refused
        } finally {
          rival.release()
        }
        await expectNothingRecorded()
      })

      it('throws and changes nothing when the transaction is recorded for another settlement', async () => {
        const first = await claimAndRecord('0x1')
        const second = await claim()
        await expect(record(journal, second.id, signedAs('0x1'))).rejects.toThrow()
        expect(await journal.find(second.id)).toMatchObject({ state: 'claimed', transaction: null })
        expect((await journal.listByTransaction(network, '0x1')).map(({ id }) => id)).toEqual([first.id])
        expect(await nextNonce()).toBe(0)
      })
    })
  })

  describe('abandon', () => {
    it('does not change a claim that another live instance owns', async () => {
      const settlement = await claim({}, theirJournal)
      expect(await journal.abandon(settlement.id)).toBe(false)
      expect(await journal.find(settlement.id)).toMatchObject({ state: 'claimed', isOwned: true })
    })

    it.each([
      { what: 'whose instance fell silent', lose: () => die(theirs) },
      {
        what: 'whose instance took its leave',
        lose: () => pool.query('delete from instances where id = $1', [theirs.id]),
      },
      {
        what: 'that was released',
        lose: async (settlement: Settlement) => theirJournal.release(settlement.id),
      },
      {
        what: 'that is older than any request works on one',
        lose: (settlement: Settlement) => age(settlement, '181 seconds'),
      },
    ])('fails a claim $what', async ({ lose }) => {
      const settlement = await claim({}, theirJournal)
      await lose(settlement)
      expect((await journal.find(settlement.id))?.isOwned).toBe(false)
      expect(await journal.abandon(settlement.id)).toBe(true)
    })

    it.each(waysToRecord)(
      'never fails what $way recorded, whether or not its owner is alive',
      async ({ record }) => {
        const settlement = await claim()
        await record(journal, settlement.id, signedAs('0x1'))
        expect(await journal.abandon(settlement.id)).toBe(false)
        await journal.release(settlement.id)
        await die(ours)
        await age(settlement, '1 day')
        expect(await journal.abandon(settlement.id)).toBe(false)
        expect(await theirJournal.abandon(settlement.id)).toBe(false)
        expect((await journal.find(settlement.id))?.state).toBe('pending')
      },
    )

    it('and record exclude each other in a race', async () => {
      for (let round = 0; round < 20; round += 1) {
        const settlement = await claim({}, theirJournal)
        await pool.query('update settlements set created_at = created_at - $1::interval', ['181 seconds'])
        const [isAbandoned, isRecorded] = await Promise.all([
          journal.abandon(settlement.id),
          recordOne(theirJournal, settlement.id, async (nonce) => signedAs(`0x${round}-${nonce}`)).then(
            () => true,
            () => false,
          ),
        ])
        expect(isRecorded).toBe(!isAbandoned)
        expect((await journal.find(settlement.id))?.state).toBe(isAbandoned ? 'failed' : 'pending')
      }
      expect(await nextNonce()).toBe(await count('broadcasts'))
    })
  })

  it('releases no row of another instance', async () => {
    const settlement = await claim({}, theirJournal)
    await journal.release(settlement.id)
    expect((await journal.find(settlement.id))?.isOwned).toBe(true)
  })

  describe('listOrphaned', () => {
    const listed = async (limit = 100) => (await journal.listOrphaned(limit)).map(({ id }) => id)

    it('lists only open rows without a live owner', async () => {
      const attended = await claimAndRecord('0x1')
      const closed = await confirm('0x2')
      expect(await listed()).toEqual([])

      const released = await claimAndRecord('0x3')
      await journal.release(released.id)
      const leftBehind = await claimAndRecord('0x4')
      await age(leftBehind, '181 seconds')
      const orphan = await claim({}, theirJournal)
      await die(theirs)
      const list = await listed()
      expect([...list].sort()).toEqual([released.id, leftBehind.id, orphan.id].sort())
      expect(list).not.toContain(attended.id)
      expect(list).not.toContain(closed.id)
    })

    it('respects the limit, in random order, so that no row blocks the others', async () => {
      const ids: string[] = []
      for (const minutes of [4, 5, 6]) {
        const settlement = await claimAndRecord(`0x${minutes}`)
        await age(settlement, `${minutes} minutes`)
        ids.push(settlement.id)
      }
      expect(await listed(2)).toHaveLength(2)
      const seen = new Set<string>()
      // By chance one of three is missed every time once in 10^17 runs.
      for (let rounds = 0; rounds < 100; rounds += 1) for (const id of await listed(1)) seen.add(id)
      expect([...seen].sort()).toEqual([...ids].sort())
    })

    it('lists rows with everything that resolving needs', async () => {
      const settlement = await claimAndRecord('0x1', { amount: 2n ** 256n - 1n })
      await journal.recorderFor(settlement.id).record(signedAs('0x2'))
      await journal.release(settlement.id)
      expect(await journal.listOrphaned(1)).toEqual([await journal.find(settlement.id)])
      expect((await journal.listOrphaned(1))[0]?.broadcasts).toEqual([signedAs('0x1'), signedAs('0x2')])
    })
  })

  describe('an instance', () => {
    const announced: Instance[] = []
    const announce = async (onPool: Pool, isOnly = false) => {
      const instance = await announceInstance(onPool, silentLogger, { isOnly })
      announced.push(instance)
      return instance
    }
    const seenAt = async ({ id }: Instance): Promise<number | null> => {
      const { rows } = await pool.query<{ seen_at: Date }>('select seen_at from instances where id = $1', [
        id,
      ])
      return rows[0]?.seen_at.getTime() ?? null
    }

    beforeEach(() => {
      // Fakes only the heartbeat's timer; the database's deadlines continue.
      vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    })
    afterEach(async () => {
      await Promise.all(announced.splice(0).map((instance) => instance.close()))
      vi.useRealTimers()
    })

    it('sends a heartbeat at start and every two seconds', async () => {
      const instance = await announce(pool)
      await die(instance)
      const before = await seenAt(instance)
      vi.advanceTimersByTime(2_000)
      await pollUntil(async () => Number(await seenAt(instance)) > Number(before), 'the heartbeat')
    })

    it('sends heartbeats while its pool is exhausted', async () => {
      const busy = openPool({ url: database.url, maxConnections: 2, onError: () => undefined })
      const instance = await announce(busy)
      const taken = [await busy.connect(), await busy.connect()]
      try {
        await die(instance)
        const before = await seenAt(instance)
        vi.advanceTimersByTime(2_000)
        await pollUntil(async () => Number(await seenAt(instance)) > Number(before), 'the heartbeat')
      } finally {
        for (const client of taken) client.release()
        await announced.pop()?.close()
        await busy.end()
      }
    })

    it('disappears immediately on close, and does not come back', async () => {
      const instance = await announce(pool)
      // A heartbeat is in flight during the close.
      vi.advanceTimersByTime(2_000)
      await announced.pop()?.close()
      expect(await seenAt(instance)).toBeNull()
      expect(vi.getTimerCount()).toBe(0)
    })

    it('deletes instances without a heartbeat for a day', async () => {
      await pool.query("update instances set seen_at = now() - interval '25 hours' where id = $1", [
        theirs.id,
      ])
      await announce(pool)
      expect(await seenAt(theirs)).toBeNull()
      expect(await seenAt(ours)).not.toBeNull()
    })

    it('releases all earlier claims at once when it is the only instance', async () => {
      const settlement = await claim({}, theirJournal)
      const instance = await announce(pool, true)
      expect((await journal.find(settlement.id))?.isOwned).toBe(false)
      expect(await seenAt(instance)).not.toBeNull()
    })
  })
})
