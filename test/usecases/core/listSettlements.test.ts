import { describe, expect, it, vi } from 'vitest'
import type { Settlement } from '../../../src/ports/settlementJournal.js'
import type { SettlementFilter } from '../../../src/ports/settlementOverview.js'
import { settlementPage } from '../../../src/protocol/results.js'
import { createListSettlements } from '../../../src/usecases/core/describe/listSettlements.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'

const setup = (rows: readonly Partial<Settlement>[] = []) => {
  const journal = createMemoryJournal()
  const put = rows.map((row) => journal.put(row))
  const list = vi.fn(async ({ limit }: SettlementFilter) => put.slice(0, limit))
  const clock = createManualClock(new Date('2026-01-01T00:01:00Z'))
  const listSettlements = createListSettlements({
    overview: { list, countOpen: async () => [] },
    journal,
    clock,
  })
  return { put, list, listSettlements }
}

describe('listSettlements', () => {
  it('shows operator fields, but neither authorization, signed bytes nor consumer', async () => {
    const { put, listSettlements } = setup([
      {
        state: 'confirmed',
        transaction: 'tx-2',
        broadcasts: [
          { transaction: 'tx-1', bytes: 'signed-bytes' },
          { transaction: 'tx-2', bytes: 'signed-bytes' },
        ],
        caller: 'key-7',
        authorizationId: 'toy:1/secret-nonce',
        fingerprint: 'fingerprint-1',
        consumedBy: 'key:key-7:order-1',
        isOwned: false,
        createdAt: new Date('2026-01-01T00:00:17.900Z'),
        closedAt: new Date('2026-01-01T00:00:20Z'),
        block: { number: 2n ** 60n, hash: '0xb1' },
      },
    ])
    const page = await listSettlements({ status: 'confirmed', limit: 10 })
    expect(page).toEqual({
      settlements: [
        {
          id: put[0]?.id,
          status: 'confirmed',
          scheme: 'exact',
          network: 'toy:1',
          asset: 'gold',
          payer: 'alice',
          payTo: 'bob',
          amount: '10000',
          transaction: 'tx-2',
          createdAt: '2026-01-01T00:00:17.900Z',
          closedAt: '2026-01-01T00:00:20.000Z',
          caller: 'key-7',
          ageSeconds: 42,
          isOwned: false,
          isConsumed: true,
          isAttended: false,
          hasToldSuccess: true,
          transactions: ['tx-1', 'tx-2'],
          block: { number: '1152921504606846976', hash: '0xb1', isFinal: false },
        },
      ],
    })
    expect(settlementPage.parse(page)).toEqual(page)
    for (const hidden of ['signed-bytes', 'secret-nonce', 'fingerprint-1', 'order-1']) {
      expect(JSON.stringify(page)).not.toContain(hidden)
    }
  })

  it('returns the last id as nextCursor if there are more, otherwise none', async () => {
    const { put, listSettlements } = setup([{}, {}, {}])
    const first = await listSettlements({ status: 'pending', limit: 2 })
    expect(first.settlements).toHaveLength(2)
    expect(first.nextCursor).toBe(put[1]?.id)
    expect(await listSettlements({ status: 'pending', limit: 3 })).not.toHaveProperty('nextCursor')
  })

  it('passes on the filter, with the canonical network name', async () => {
    const { put, list, listSettlements } = setup([{}])
    const since = new Date('2026-01-01T00:00:00Z')
    const cursor = put[0]?.id
    await listSettlements({ status: 'failed', network: 'base-sepolia', since, cursor, limit: 7 })
    expect(list).toHaveBeenCalledWith({
      status: 'failed',
      network: 'eip155:84532',
      since,
      after: cursor,
      limit: 8,
    })
  })

  it('rejects an unknown cursor', async () => {
    const { list, listSettlements } = setup()
    const listed = listSettlements({
      status: 'pending',
      limit: 10,
      cursor: '00000000-0000-4000-8000-000000000000',
    })
    await expect(listed).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringMatching(/^cursor: /),
    })
    expect(list).not.toHaveBeenCalled()
  })
})
