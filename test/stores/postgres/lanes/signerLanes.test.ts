import { beforeEach, describe, expect, it } from 'vitest'
import type { Lane, SettlementJournal } from '../../../../src/ports/settlementJournal.js'
import type { SignerLanes, SignNumbered } from '../../../../src/ports/signerLanes.js'
import { openPool } from '../../../../src/stores/postgres/database/pool.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { describeLaneNumbering, observeRecorder, signFor } from '../../../contracts/laneNumberingContract.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { createGate } from '../../../support/gate.js'
import { addInstance } from '../../../support/instances.js'
import { usePatientQueues } from '../../../support/patientQueues.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { recordInLane } from '../../../support/recordInLane.js'
import { overTcp, startTcpProxy } from '../../../support/tcpProxy.js'

const lane: Lane = { network: 'eip155:84532', signer: '0x1111111111111111111111111111111111111111' }
const otherSigner: Lane = { ...lane, signer: '0x2222222222222222222222222222222222222222' }

const range = (from: number, length: number): readonly number[] =>
  Array.from({ length }, (_, index) => from + index)

const database = useTestDatabase()
const { pool, otherPool } = database
const empty = () => emptyTables(pool, 'settlements', 'signer_lanes', 'instances')

describeLaneNumbering('the signer lanes', async () => {
  await empty()
  const instance = await addInstance(pool)
  const journal = createSettlementJournal(pool, instance)
  return {
    lanes: createSignerLanes(pool, instance),
    openRecorder: async (network) => {
      const settlement = await journal.claim(claimOf({ network }))
      if (settlement === null) throw new Error('The authorization already has an open row')
      return observeRecorder(journal.recorderFor(settlement.id))
    },
    close: async () => undefined,
  }
})

describe('the signer lanes', () => {
  usePatientQueues()

  /** Two instances that share the database. */
  let journals: readonly [SettlementJournal, SettlementJournal]
  let lanes: SignerLanes
  let otherLanes: SignerLanes

  beforeEach(async () => {
    await empty()
    const [ours, theirs] = [await appear(), await appear()]
    journals = [createSettlementJournal(pool, ours), createSettlementJournal(otherPool, theirs)]
    lanes = createSignerLanes(pool, ours)
    otherLanes = createSignerLanes(otherPool, theirs)
  })

  const appear = () => addInstance(pool)
  const claim = async (journal: SettlementJournal, network = lane.network): Promise<string> => {
    const settlement = await journal.claim(claimOf({ network }))
    if (settlement === null) throw new Error('The authorization already has an open row')
    return settlement.id
  }
  const recordOne = (journal: SettlementJournal, id: string, target: Lane, sign: SignNumbered) =>
    recordInLane({ journal, lanes: journal === journals[0] ? lanes : otherLanes }, id, { lane: target, sign })
  /** Records one transaction of a new settlement; returns its nonce. */
  const recordIn = async (target: Lane, journal = journals[0]): Promise<number> => {
    const id = await claim(journal, target.network)
    let taken = -1
    await recordOne(journal, id, target, async (nonce) => {
      taken = nonce
      return await signFor(target)(nonce)
    })
    return taken
  }
  const noncesFrom = async (target: Lane, nonce = 0): Promise<readonly number[]> =>
    (await lanes.listFrom(target, nonce, 1_000)).map((transaction) => transaction.nonce)

  const unrecorded = { state: 'claimed', transaction: null, broadcasts: [] }

  describe('record', () => {
    it('allocates gapless, unique nonces to 200 transactions of two instances', async () => {
      await lanes.advance(lane, 7)
      const taken = await Promise.all(
        range(0, 200).map((index) => recordIn(lane, journals[index % 2 === 0 ? 0 : 1])),
      )
      expect([...taken].sort((left, right) => left - right)).toEqual(range(7, 200))
      expect(await noncesFrom(lane)).toEqual(range(7, 200))
    })

    it('gives each settlement the transaction that was signed for its nonce', async () => {
      await lanes.advance(lane, 0)
      const ids = await Promise.all(range(0, 20).map(() => claim(journals[0])))
      const signed = await Promise.all(ids.map((id) => recordOne(journals[0], id, lane, signFor(lane))))
      for (const [index, id] of ids.entries()) {
        const settlement = await journals[1].find(id)
        expect(settlement?.broadcasts).toEqual([signed[index]])
      }
    })

    it('allocates no nonce and leaves the row claimed when signing fails', async () => {
      await lanes.advance(lane, 5)
      const id = await claim(journals[0])
      const failing = recordOne(journals[0], id, lane, async () => {
        throw new Error('no key')
      })
      await expect(failing).rejects.toThrow('no key')
      expect(await journals[0].find(id)).toMatchObject(unrecorded)
      expect(await recordIn(lane)).toBe(5)
    })

    it('leaves no gap when some of many signatures fail', async () => {
      await lanes.advance(lane, 0)
      const attempts = range(0, 40).map(async (index) => {
        const journal = journals[index % 2 === 0 ? 0 : 1]
        const id = await claim(journal)
        return await recordOne(journal, id, lane, async (nonce) => {
          if (index % 4 === 0) throw new Error('no key')
          return await signFor(lane)(nonce)
        })
      })
      const settled = await Promise.allSettled(attempts)
      expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(30)
      expect(await noncesFrom(lane)).toEqual(range(0, 30))
    })

    it('keeps neither the nonce nor the bytes when the commit fails', async () => {
      await lanes.advance(lane, 5)
      const id = await claim(journals[0])
      await pool.query(`
        create function refuse() returns trigger language plpgsql as $$ begin raise 'no commit'; end $$;
        create constraint trigger refuse after update on signer_lanes deferrable initially deferred
          for each row execute function refuse()`)
      try {
        const recording = recordOne(journals[0], id, lane, signFor(lane))
        await expect(recording).rejects.toThrow('no commit')
      } finally {
        await pool.query('drop function refuse cascade')
      }
      expect(await journals[0].find(id)).toMatchObject(unrecorded)
      expect(await noncesFrom(lane)).toEqual([])
      expect(await recordIn(lane)).toBe(5)
    })

    it('does not block other lanes while one is blocked', async () => {
      await lanes.advance(lane, 0)
      await lanes.advance(otherSigner, 0)
      const signing = createGate()
      const begun = createGate()
      const id = await claim(journals[1])
      const slow = recordOne(journals[1], id, lane, async (nonce) => {
        begun.open()
        await signing.opened
        return await signFor(lane)(nonce)
      })
      await begun.opened
      // More waiters than connections.
      const waiting = range(0, 20).map(() => recordIn(lane))
      expect(await recordIn(otherSigner)).toBe(0)
      expect(await recordIn(otherSigner, journals[1])).toBe(1)
      signing.open()
      await slow
      expect((await Promise.all(waiting)).sort((left, right) => left - right)).toEqual(range(1, 20))
    })

    it('releases a lane whose signer hangs', async () => {
      await lanes.advance(lane, 0)
      const id = await claim(journals[0])
      const hanging = recordOne(journals[0], id, lane, () => new Promise(() => undefined))
      const refused = expect(hanging).rejects.toThrow('The deadline passed')
      expect(await recordIn(lane)).toBe(0)
      await refused
      expect((await journals[0].find(id))?.state).toBe('claimed')
    })

    it('releases a lane whose instance vanishes while it signs', async () => {
      await lanes.advance(lane, 0)
      const proxy = await startTcpProxy(Number(new URL(database.url).port))
      const farPool = openPool({
        url: overTcp(database.url, proxy.port),
        maxConnections: 2,
        onError: () => undefined,
      })
      const farInstance = await appear()
      const far = createSettlementJournal(farPool, farInstance)
      const farLanes = createSignerLanes(farPool, farInstance)
      try {
        const id = await claim(far)
        const gone = createGate()
        const vanished = recordInLane({ journal: far, lanes: farLanes }, id, {
          lane,
          sign: async (nonce) => {
            proxy.hang()
            gone.open()
            return await signFor(lane)(nonce)
          },
        })
        const refused = expect(vanished).rejects.toThrow()
        await gone.opened
        expect(await recordIn(lane)).toBe(0)
        // The vanished instance has lost the nonce, and sends nothing.
        await proxy.reset()
        await refused
        expect(await lanes.listFrom(lane, 0, 10)).toHaveLength(1)
        expect((await journals[0].find(id))?.state).toBe('claimed')
      } finally {
        await farPool.end()
        await proxy.close()
      }
    })
  })

  describe('advance', () => {
    it('keeps the maximum of concurrent calls from two instances', async () => {
      await Promise.all(
        range(0, 30).map((index) => (index % 2 === 0 ? lanes : otherLanes).advance(lane, (index * 7) % 30)),
      )
      expect(await recordIn(lane)).toBe(29)
    })

    it('does not affect concurrent allocations', async () => {
      await lanes.advance(lane, 10)
      const taken = await Promise.all(
        range(0, 40).map(async (index) => {
          // As reported by a lagging node.
          if (index % 5 === 0) await otherLanes.advance(lane, index % 11)
          return await recordIn(lane, journals[index % 2 === 0 ? 0 : 1])
        }),
      )
      expect([...taken].sort((left, right) => left - right)).toEqual(range(10, 40))
    })

    it('has one transaction for each nonce, beside those that replace it', async () => {
      await lanes.advance(lane, 0)
      await recordIn(lane)
      const store = (transaction: string, nonce: number, replaces: string | null) =>
        pool.query(
          `insert into broadcasts (network, transaction, bytes, signer, nonce, replaces) values ($1, $2, '0x', $3, $4, $5)`,
          [lane.network, transaction, lane.signer, nonce, replaces],
        )
      await store('0x1', 1, null)

      await expect(store('0x2', 1, null)).rejects.toMatchObject({ code: '23505' })
      await store('0x3', 1, '0x1')
      await store('0x4', 1, '0x1')
      await store('0x5', 2, null)

      expect(await noncesFrom(lane, 1)).toEqual([1, 2])
    })

    it('rejects a negative nonce', async () => {
      await expect(lanes.advance(lane, -1)).rejects.toThrow()
    })
  })

  it('list nothing that payers signed', async () => {
    await lanes.advance(lane, 8)
    expect(await recordIn(lane)).toBe(8)
    const id = await claim(journals[0])
    await journals[0].recorderFor(id).record({ transaction: 'signed by the payer', bytes: '0x' })
    expect(await noncesFrom(lane)).toEqual([8])
  })
})
