import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type {
  BlockReference,
  ConfirmedBlock,
  Lane,
  Settlement,
  SettlementClaim,
  SettlementJournal,
} from '../../../../src/ports/settlementJournal.js'
import type { Instance } from '../../../../src/stores/postgres/database/instance.js'
import { createConfirmedBlocks } from '../../../../src/stores/postgres/journal/confirmedBlocks.js'
import { createSettlementJournal } from '../../../../src/stores/postgres/journal/settlementJournal.js'
import { createSignerLanes } from '../../../../src/stores/postgres/lanes/signerLanes.js'
import { claimOf } from '../../../support/claimOf.js'
import { emptyTables } from '../../../support/emptyTables.js'
import { addInstance } from '../../../support/instances.js'
import { insertJournalRows } from '../../../support/journalRows.js'
import { useTestDatabase } from '../../../support/postgres.js'
import { recordInLane } from '../../../support/recordInLane.js'
import { findWorkDifferences } from '../../../support/workTables.js'

const network = 'eip155:84532'
const lane: Lane = { network, signer: '0x1111111111111111111111111111111111111111' }

const block: BlockReference = { number: 2n ** 40n, hash: '0xb1' }
const inBlock = (reference: BlockReference = block, of = network): ConfirmedBlock => ({
  network: of,
  scheme: 'exact',
  block: reference,
})

const marked = z.tuple([z.object({ final: z.number(), pages: z.number(), statements: z.number() })])

describe('confirmed blocks', () => {
  // The lease of a lane lasts for seconds.
  const { pool, otherPool } = useTestDatabase({ stopsClock: true })
  let ours: Instance
  let journal: SettlementJournal

  const blocks = createConfirmedBlocks(pool)
  const theirBlocks = createConfirmedBlocks(otherPool)
  beforeEach(async () => {
    await emptyTables(pool, 'consumed_authorizations', 'settlements', 'signer_lanes', 'instances')
    ours = await addInstance(pool)
    journal = createSettlementJournal(pool, ours)
  })

  afterEach(async () => expect(await findWorkDifferences(pool)).toEqual([]))

  const open = async (changes: Partial<SettlementClaim> = {}): Promise<Settlement> => {
    const settlement = await journal.claim(claimOf(changes))
    if (settlement === null) throw new Error('The authorization already has a row')
    await journal.recorderFor(settlement.id).record({ transaction: `tx ${settlement.id}`, bytes: 'bytes' })
    return settlement
  }
  const pay = async (
    paidIn: BlockReference | null = block,
    consumer?: string,
    changes: Partial<SettlementClaim> = {},
  ): Promise<Settlement> => {
    const { id } = await open(changes)
    const transaction = `tx ${id}`
    const closing = {
      state: 'confirmed' as const,
      transaction,
      ...(paidIn === null ? {} : { block: paidIn }),
    }
    expect(await journal.close(id, closing, consumer)).toBe(true)
    return await get(id)
  }
  const get = async (id: string): Promise<Settlement> => {
    const settlement = await journal.find(id)
    if (settlement === null) throw new Error('There is no such row')
    return settlement
  }

  // Whether each finds room on its page depends on what other databases of the server do.
  it('marks all payments of a block final, those of a page in one statement each', async () => {
    const count = 200
    await insertJournalRows(pool, {
      count,
      columns: {
        is_final: 'false',
        block_number: '7',
        block_hash: `'0xb7'`,
        fingerprint: `repeat('f', 500)`,
      },
    })
    await pool.query('create table places as select id, (ctid::text::point)[0] as page from settlements')

    await blocks.markFinal(inBlock({ number: 7n, hash: '0xb7' }))

    const { rows } = await pool.query(
      `select count(*)::integer as final, count(distinct p.page)::integer as pages,
         count(distinct (p.page, s.xmin::text))::integer as statements
       from settlements s join places p using (id) where s.is_final`,
    )
    await pool.query('drop table places')
    const [{ final, pages, statements }] = marked.parse(rows)
    expect(final).toBe(count)
    expect(pages).toBeLessThan(count / 2)
    expect(statements).toBe(count)
  })

  describe('list', () => {
    it('lists each block once, with its exact number', async () => {
      await pay()
      await pay()
      await pay({ number: 7n, hash: '0xb7' })
      const listed = await blocks.list(10)
      expect([...listed].sort((left, right) => Number(left.block.number - right.block.number))).toEqual([
        inBlock({ number: 7n, hash: '0xb7' }),
        inBlock(),
      ])
    })

    it('distinguishes blocks with equal numbers, and equal hashes on two networks', async () => {
      await pay({ number: 7n, hash: '0xb7' })
      await pay({ number: 7n, hash: '0xc7' })
      await pay({ number: 7n, hash: '0xb7' }, undefined, { network: 'eip155:1' })
      expect(await blocks.list(10)).toHaveLength(3)
    })

    it('omits open, failed and final settlements, and those without a block', async () => {
      await open()
      await pay(null)
      const failed = await open()
      await journal.close(failed.id, { state: 'failed', reason: 'insufficient_funds' })
      await pay()
      await blocks.markFinal(inBlock())
      expect(await blocks.list(10)).toEqual([])
    })

    it('respects the limit, and lists each block eventually', async () => {
      for (let number = 1n; number <= 4n; number += 1n) await pay({ number, hash: `0x${number}` })
      const seen = new Set<bigint>()
      for (let round = 0; round < 100; round += 1) {
        const listed = await blocks.list(1)
        expect(listed).toHaveLength(1)
        for (const each of listed) seen.add(each.block.number)
      }
      expect(seen.size).toBe(4)
    })
  })

  describe('markFinal', () => {
    it('marks every payment of the block and no other, permanently', async () => {
      const [first, second] = [await pay(), await pay()]
      const other = await pay({ number: 7n, hash: '0xb7' })
      await blocks.markFinal(inBlock())
      expect((await get(first.id)).isFinal).toBe(true)
      expect((await get(second.id)).isFinal).toBe(true)
      expect((await get(other.id)).isFinal).toBe(false)
      expect(await blocks.reopen(inBlock())).toEqual([])
      expect(await get(first.id)).toMatchObject({ state: 'confirmed', block })
    })
  })

  describe('reopen', () => {
    it('makes every payment of the block pending, releases it, and keeps its consumer', async () => {
      const told = await pay(block, 'request:1')
      const untold = await pay()
      const others = [
        await pay({ number: block.number, hash: '0xb2' }),
        await pay(block, undefined, { network: 'eip155:1' }),
        await pay(null),
      ]
      const reopened = await blocks.reopen(inBlock())
      expect(reopened.map(({ id }) => id).sort()).toEqual([told.id, untold.id].sort())
      const { isOwned: _attended, ...rest } = told
      expect(await get(told.id)).toEqual({
        ...rest,
        settledAmount: null,
        isOwned: false,
        state: 'pending',
        closedAt: null,
        block: null,
        consumedBy: 'request:1',
      })
      expect((await get(untold.id)).consumedBy).toBeNull()
      expect(reopened).toContainEqual(await get(told.id))
      for (const other of others) expect(await get(other.id)).toEqual(other)
      expect((await journal.listOrphaned(10)).map(({ id }) => id).sort()).toEqual([told.id, untold.id].sort())
      expect(await blocks.list(10)).toHaveLength(2)
    })

    it('succeeds once for concurrent callers', async () => {
      for (let row = 0; row < 10; row += 1) await pay(block, `request:${row}`)
      const answers = await Promise.all(
        Array.from({ length: 8 }, (_, index) => (index % 2 === 0 ? blocks : theirBlocks).reopen(inBlock())),
      )
      expect(answers.map(({ length }) => length).sort((left, right) => left - right)).toEqual([
        0, 0, 0, 0, 0, 0, 0, 10,
      ])
    })

    it('does not change a payment that was confirmed again in another block', async () => {
      const { id } = await pay(block, 'request:1')
      await blocks.reopen(inBlock())
      const again = { number: block.number + 1n, hash: '0xb2' }
      await journal.close(id, { state: 'confirmed', transaction: `tx ${id}`, block: again })
      expect(await theirBlocks.reopen(inBlock())).toEqual([])
      expect(await get(id)).toMatchObject({ state: 'confirmed', block: again, consumedBy: 'request:1' })
    })

    it('adds a replacement that was recorded while the payment was confirmed', async () => {
      const lanes = createSignerLanes(pool, ours)
      await lanes.advance(lane, 0)
      await lanes.lease(network, [lane.signer])
      const claimed = await journal.claim(claimOf({ authorizationId: 'one' }))
      if (claimed === null) throw new Error('It is claimed')
      const first = { transaction: '0xfirst', bytes: 'first' }
      await recordInLane({ journal, lanes }, claimed.id, { lane, sign: async () => first })
      await journal.close(claimed.id, { state: 'confirmed', transaction: '0xfirst', block })
      const [stuck] = await lanes.listFrom(lane, 0, 1)
      if (stuck === undefined) throw new Error('Nothing is recorded')
      const second = { transaction: '0xa', bytes: 'second' }
      expect(await lanes.replace(lane, stuck, async () => second)).toEqual(second)
      expect((await get(claimed.id)).broadcasts).toEqual([first])
      expect(await blocks.reopen(inBlock())).toMatchObject([
        { transaction: '0xfirst', broadcasts: [first, second] },
      ])
    })
  })
})
