import { beforeEach, describe, expect, it } from 'vitest'
import type {
  Lane,
  Settlement,
  SettlementClaim,
  SettlementJournal,
} from '../../../../src/ports/settlementJournal.js'
import type { SignerLanes } from '../../../../src/ports/signerLanes.js'
import type { Instance } from '../../../../src/stores/postgres/database/instance.js'
import { createBroadcastRetention } from '../../../../src/stores/postgres/journal/broadcastRetention.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { findMissingRows } from '../../../../src/stores/postgres/reconciliation/missingRows.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { recordInLane } from '../../../support/recordInLane.js'

const network = 'eip155:84532'
const lane: Lane = { network, signer: '0x1111111111111111111111111111111111111111' }
const block = { number: 7n, hash: '0xb7' }
const monthAgo = new Date(Date.now() - 30 * 86_400_000)
const running = new AbortController().signal

describe('the retention of signed transactions', () => {
  // The lease of a lane lasts for seconds.
  const { pool } = useTestDatabase({ stopsClock: true })
  const retention = createBroadcastRetention(pool)
  const blocks = createConfirmedBlocks(pool)
  let ours: Instance
  let journal: SettlementJournal
  let lanes: SignerLanes

  beforeEach(async () => {
    await emptyTables(
      pool,
      'consumed_authorizations',
      'settlements',
      'signer_lanes',
      'instances',
      'dropped_broadcasts',
      'deferred_broadcasts',
    )
    ours = await addInstance(pool)
    journal = createSettlementJournal(pool, ours)
    lanes = createSignerLanes(pool, ours)
    await lanes.advance(lane, 0)
    await lanes.lease(network, [lane.signer])
  })

  const claim = async (changes: Partial<SettlementClaim> = {}): Promise<Settlement> => {
    const settlement = await journal.claim(claimOf(changes))
    if (settlement === null) throw new Error('The authorization already has a row')
    return settlement
  }
  const sign = async (nonce: number) => ({ transaction: `0x${nonce}`, bytes: `bytes ${nonce}` })
  const close = (id: string, transaction: string) =>
    journal.close(id, { state: 'confirmed', transaction, block })
  const pay = async (): Promise<Settlement> => {
    const { id } = await claim()
    const { transaction } = await recordInLane({ journal, lanes }, id, { lane, sign })
    await close(id, transaction)
    return await read(id)
  }
  const read = async (id: string): Promise<Settlement> => {
    const found = await journal.find(id)
    if (found === null) throw new Error('There is no such settlement')
    return found
  }
  /** As if the settlements were older by that. */
  const age = async (days: number): Promise<void> => {
    await pool.query(
      `update settlements set created_at = created_at - $1 * interval '1 day', closed_at = closed_at - $1 * interval '1 day'`,
      [days],
    )
    await pool.query(`update broadcasts set recorded_at = recorded_at - $1 * interval '1 day'`, [days])
  }
  const markFinal = () => blocks.markFinal({ network, scheme: 'exact', block })
  const drop = () => retention.dropClosedBefore(monthAgo, running)
  const listKept = async (): Promise<readonly string[]> => {
    const { rows } = await pool.query<{ transaction: string }>(
      'select transaction from broadcasts order by 1',
    )
    return rows.map(({ transaction }) => transaction)
  }

  it('drops what is final and old, but for the last nonce of a lane', async () => {
    const paid = await pay()
    await pay()
    await markFinal()
    await age(40)

    expect(await drop()).toEqual({ dropped: 1, isDone: true })
    expect(await listKept()).toEqual(['0x1'])
    expect(await read(paid.id)).toMatchObject({
      state: 'confirmed',
      transaction: '0x0',
      broadcasts: [{ transaction: '0x0', bytes: '' }],
    })
    expect((await journal.listByTransaction(network, '0x0')).map(({ id }) => id)).toEqual([paid.id])
  })

  it('keeps what a reorg can still take back, however old it is', async () => {
    const paid = await pay()
    await pay()
    await age(40)

    expect(await drop()).toMatchObject({ dropped: 0 })
    await blocks.reopen({ network, scheme: 'exact', block })
    expect((await read(paid.id)).broadcasts).toEqual([{ transaction: '0x0', bytes: 'bytes 0' }])
  })

  it('keeps what was closed lately', async () => {
    await pay()
    await pay()
    await markFinal()
    await age(20)

    expect(await drop()).toMatchObject({ dropped: 0 })
  })

  it('keeps a transaction while one of the settlements that it carries is open', async () => {
    const [first, second] = [await claim(), await claim()]
    const recorders = [first, second].map(({ id }) => journal.recorderFor(id))
    await lanes.record(lane, recorders, sign)
    await close(first.id, '0x0')
    await pay()
    await markFinal()
    await age(40)

    expect(await drop()).toMatchObject({ dropped: 0 })
    expect((await read(second.id)).broadcasts).toEqual([{ transaction: '0x0', bytes: 'bytes 0' }])
  })

  it('drops a replaced transaction together with its replacement', async () => {
    const { id } = await claim()
    await recordInLane({ journal, lanes }, id, { lane, sign })
    const [stuck] = await lanes.listFrom(lane, 0, 10)
    if (stuck === undefined) throw new Error('Nothing is recorded')
    await lanes.replace(lane, stuck, async () => ({ transaction: '0xreplacement', bytes: 'dearer' }))
    await close(id, '0xreplacement')
    await pay()
    await markFinal()
    await age(40)

    expect(await drop()).toMatchObject({ dropped: 2 })
    expect(await listKept()).toEqual(['0x1'])
  })

  it('continues after what it has looked at, also when it was stopped', async () => {
    for (let count = 0; count < 4; count += 1) await pay()
    await markFinal()
    await age(40)

    const stopped = await retention.dropClosedBefore(monthAgo, AbortSignal.abort())
    expect(stopped).toEqual({ dropped: 0, isDone: false })
    expect(await drop()).toEqual({ dropped: 3, isDone: true })
    expect(await drop()).toEqual({ dropped: 0, isDone: true })
  })

  it.each(['pending', 'closed lately'])(
    'drops later what was %s when the cursor passed it',
    async (state) => {
      const late = await claim()
      await recordInLane({ journal, lanes }, late.id, { lane, sign })
      await pay()
      await pay()
      if (state === 'closed lately') await close(late.id, '0x0')
      await markFinal()
      await age(40)
      await pool.query(
        `update settlements set closed_at = now() - interval '20 days' where id = $1 and closed_at is not null`,
        [late.id],
      )
      expect(await drop()).toEqual({ dropped: 1, isDone: true })
      expect(await listKept()).toEqual(['0x0', '0x2'])

      if (state === 'pending') await close(late.id, '0x0')
      await markFinal()
      await age(40)
      expect(await drop()).toEqual({ dropped: 1, isDone: true })
      expect(await listKept()).toEqual(['0x2'])
      expect((await pool.query('select from deferred_broadcasts')).rowCount).toBe(0)
    },
  )

  it('leaves a lane that a wrong answer of a node cannot rewind', async () => {
    for (let count = 0; count < 3; count += 1) await pay()
    await markFinal()
    await age(40)
    await drop()

    expect(await lanes.rewindNonce(lane, 0, 1)).toBe(false)
    expect(await lanes.readNext(lane)).toBe(3)
  })

  it('is no gap between nonces for reconciliation', async () => {
    const [first] = [await pay(), await pay()]
    await markFinal()
    await age(40)
    const always = { from: new Date(0), to: new Date('2100-01-01T00:00:00Z') }
    await pool.query(`update broadcasts set nonce = nonce + 5 where transaction <> $1`, [first?.transaction])
    expect((await findMissingRows(pool, always)).counts).toEqual([
      { kind: 'transaction_unrecorded', count: 1 },
    ])
    await pool.query(
      `insert into dropped_broadcasts values ($1, now(), gen_random_uuid(), now() - interval '30 days')`,
      [network],
    )
    expect((await findMissingRows(pool, always)).counts).toEqual([])
  })
})
