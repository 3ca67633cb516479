import { describe, expect, it } from 'vitest'
import type { BlockReference, ConfirmedBlock, Settlement } from '../../../src/ports/settlementJournal.js'
import type { BlockStatus } from '../../../src/schemes/network.js'
import { createSchemeRegistry } from '../../../src/schemes/registry.js'
import { createDetectReorgs } from '../../../src/usecases/core/recover/detectReorgs.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryConfirmedBlocks } from '../../support/memoryConfirmedBlocks.js'
import { createMemoryCounter } from '../../support/memoryCounter.js'
import { createMemoryJournal } from '../../support/memoryJournal.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { waitLimitMs } from '../../support/pollUntil.js'
import { createToyScheme } from '../../support/toyScheme.js'

type Judge = (block: BlockReference) => Promise<BlockStatus> | BlockStatus

/** A journal with payments in blocks, and a network with configurable block status. */
const setup = (getStatus: Judge = () => 'canonical', deadlineMs = waitLimitMs) => {
  const journal = createMemoryJournal()
  const logger = createMemoryLogger()
  const counter = createMemoryCounter()
  const clock = createManualClock()
  const queried: string[] = []
  const schemeOn = (network: string) =>
    createToyScheme({
      kind: { scheme: 'exact', network },
      network: {
        getBlockStatus: async (block) => {
          queried.push(block.hash)
          return await getStatus(block)
        },
      },
    })
  const detectReorgs = createDetectReorgs({
    registry: createSchemeRegistry([schemeOn('toy:1'), schemeOn('toy:2')]),
    blocks: createMemoryConfirmedBlocks(journal),
    counter,
    clock,
    logger,
    deadlineMs,
  })
  const round = async (stopped = new AbortController().signal) => {
    queried.length = 0
    await detectReorgs(stopped)
    return [...queried]
  }
  let count = 0
  const putPaid = (hash: string, fields: Partial<Settlement> = {}) => {
    count += 1
    return journal.put({
      state: 'confirmed',
      isOwned: false,
      authorizationId: `toy:1/${count}`,
      transaction: `tx-${count}`,
      block: { number: 7n, hash },
      closedAt: new Date('2026-01-01T00:00:00Z'),
      ...fields,
    })
  }
  const stateOf = async ({ id }: Settlement) => (await journal.find(id))?.state
  return { journal, logger, counter, clock, round, putPaid, stateOf }
}

describe('detectReorgs', () => {
  it('checks a block once, however many payments it contains', async () => {
    const { round, putPaid } = setup()
    for (let row = 0; row < 20; row += 1) putPaid('b1')
    putPaid('b2')
    expect((await round()).sort()).toEqual(['b1', 'b2'])
  })

  it('marks final blocks, and never checks them again', async () => {
    const { journal, clock, round, putPaid } = setup(() => 'final')
    const { id } = putPaid('b1')
    await round()
    expect(await journal.find(id)).toMatchObject({ state: 'confirmed', isFinal: true })
    await clock.advance(3_600_000)
    expect(await round()).toEqual([])
  })

  it('checks a canonical block at increasing intervals of at most a minute', async () => {
    const { clock, round, putPaid } = setup()
    putPaid('b1')
    const askedAt: number[] = []
    for (let seconds = 0; seconds <= 240; seconds += 4) {
      if ((await round()).length > 0) askedAt.push(seconds)
      await clock.advance(4_000)
    }
    expect(askedAt).toEqual([0, 4, 12, 28, 60, 120, 180, 240])
  })

  it('reopens and logs every payment of a block that is orphaned in two consecutive rounds', async () => {
    const { logger, counter, round, putPaid, stateOf } = setup(({ hash }) =>
      hash === 'b1' ? 'orphaned' : 'canonical',
    )
    const [consumed, unconsumed, other] = [
      putPaid('b1', { consumedBy: 'request:1' }),
      putPaid('b1'),
      putPaid('b2'),
    ]
    await round()
    expect(await stateOf(consumed)).toBe('confirmed')
    expect(logger.lines).toEqual([])
    await round()
    expect([await stateOf(consumed), await stateOf(unconsumed), await stateOf(other)]).toEqual([
      'pending',
      'pending',
      'confirmed',
    ])
    expect(logger.lines).toMatchObject([
      {
        level: 'warn',
        message: 'settlement.reorged',
        fields: {
          settlementId: consumed.id,
          network: 'toy:1',
          transaction: 'tx-1',
          blockNumber: '7',
          blockHash: 'b1',
          isConsumed: true,
        },
      },
      { message: 'settlement.reorged', fields: { settlementId: unconsumed.id, isConsumed: false } },
    ])
    expect(counter.counted).toEqual(['reorged toy:1', 'reorged toy:1'])
  })

  it.each(['canonical', 'unknown'] as const)(
    'reopens nothing if a block is orphaned, then %s, then orphaned',
    async (then) => {
      const answers: BlockStatus[] = ['orphaned', then, 'orphaned', then, 'orphaned', then]
      const { clock, round, putPaid, stateOf } = setup(() => answers.shift() ?? 'canonical')
      const paid = putPaid('b1')
      while (answers.length > 0) {
        await round()
        await clock.advance(60_000)
      }
      expect(await stateOf(paid)).toBe('confirmed')
    },
  )

  it('reopens nothing if the network fails between two orphaned answers', async () => {
    const answers: (() => BlockStatus)[] = [
      () => 'orphaned',
      () => {
        throw new Error('no node answers')
      },
      () => 'orphaned',
    ]
    const { logger, round, putPaid, stateOf } = setup(() =>
      (answers.shift() ?? (() => 'canonical' as const))(),
    )
    const paid = putPaid('b1')
    for (let rounds = 0; rounds < 3; rounds += 1) await round()
    expect(await stateOf(paid)).toBe('confirmed')
    expect(logger.messages()).toEqual(['block.status_unknown', 'block.status_known'])
  })

  it('checks all blocks of a network at once when one is orphaned', async () => {
    let isShaken = false
    const { clock, round, putPaid } = setup(({ hash }) =>
      isShaken && hash !== 'elsewhere' ? 'orphaned' : 'canonical',
    )
    putPaid('old')
    putPaid('elsewhere', { network: 'toy:2' })
    for (let rounds = 0; rounds < 6; rounds += 1) {
      await round()
      await clock.advance(16_000)
    }
    await round()
    putPaid('new')
    isShaken = true
    expect(await round()).toEqual(['new', 'old'])
  })

  it('checks at most eight blocks concurrently, and skips a network that does not answer', async () => {
    let running = 0
    let most = 0
    let queried = 0
    const { round, putPaid } = setup(async () => {
      queried += 1
      running += 1
      most = Math.max(most, running)
      await Promise.resolve()
      running -= 1
      throw new Error('no node answers')
    })
    for (let row = 0; row < 100; row += 1) putPaid(`b${row}`)
    await round()
    expect(most).toBe(8)
    expect(queried).toBeLessThanOrEqual(3 + 8)
  })

  it('leaves payments unchanged whose network is no longer configured', async () => {
    const { logger, round, putPaid, stateOf } = setup(() => 'orphaned')
    const paid = putPaid('b1', { network: 'gone:1' })
    for (let rounds = 0; rounds < 3; rounds += 1) expect(await round()).toEqual([])
    expect(await stateOf(paid)).toBe('confirmed')
    expect(logger.lines).toEqual([])
  })

  it('checks no further block during shutdown', async () => {
    const closing = new AbortController()
    const { round, putPaid } = setup(() => {
      closing.abort()
      return 'canonical'
    })
    for (let row = 0; row < 100; row += 1) putPaid(`b${row}`)
    expect((await round(closing.signal)).length).toBeLessThanOrEqual(8)
  })

  it('gives the network a deadline', async () => {
    const journal = createMemoryJournal()
    const logger = createMemoryLogger()
    const block: ConfirmedBlock = { network: 'toy:1', scheme: 'exact', block: { number: 1n, hash: 'b1' } }
    const detectReorgs = createDetectReorgs({
      registry: createSchemeRegistry([
        createToyScheme({
          network: {
            getBlockStatus: (_block, signal) =>
              new Promise((_resolve, reject) => {
                signal.addEventListener('abort', () => reject(signal.reason))
              }),
          },
        }),
      ]),
      blocks: { ...createMemoryConfirmedBlocks(journal), list: async () => [block] },
      counter: createMemoryCounter(),
      clock: createManualClock(),
      logger,
      deadlineMs: 5,
    })
    await detectReorgs(new AbortController().signal)
    expect(logger.messages()).toEqual(['block.status_unknown'])
  })
})
