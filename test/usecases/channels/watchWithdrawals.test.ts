import { describe, expect, it } from 'vitest'
import { systemClock } from '../../../src/platform/clock.js'
import { silentLogger } from '../../../src/platform/logger.js'
import type { Clock } from '../../../src/ports/clock.js'
import { createWatchWithdrawals } from '../../../src/usecases/channels/watchWithdrawals.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { channelCareStub } from './channelCareStub.js'

const network = 'eip155:84532'

interface Plan {
  /** Names of channels by the block of their announcement. */
  readonly announced?: ReadonlyMap<bigint, readonly string[]>
  /** Accounts of the channels that are cared for. */
  readonly accounts?: Readonly<Record<string, string>>
  readonly head?: bigint
  readonly cursor?: bigint | null
  /** Blocks of one query. */
  readonly range?: bigint
  /** Blocks that the chain made lately. */
  readonly recent?: bigint
  readonly clock?: Clock
  readonly logger?: typeof silentLogger
  readonly refuses?: (query: number) => boolean
  readonly look?: (channelIds: readonly string[]) => Promise<boolean>
}

const setup = ({
  announced = new Map(),
  accounts = {},
  head = 1_000n,
  cursor = 900n,
  range = 10n,
  recent = 64n,
  clock = systemClock,
  logger = silentLogger,
  refuses = () => false,
  look,
}: Plan) => {
  const state = {
    cursor,
    head,
    queries: [] as bigint[],
    turns: [] as number[],
    looked: [] as string[],
    /** The last block that the node has that answers. */
    has: Number.POSITIVE_INFINITY,
  }
  const watch = createWatchWithdrawals({
    clock,
    logger,
    ledger: {
      moveWatch: async (_, nextBlock) => {
        state.cursor = nextBlock
      },
      listUnnoticed: async (_, ids) =>
        ids.flatMap((channelId) => {
          const accountId = accounts[channelId]
          return accountId === undefined || state.looked.includes(channelId) ? [] : [{ channelId, accountId }]
        }),
    },
  })
  const round = () =>
    watch({
      network,
      nextBlock: state.cursor,
      stopped: new AbortController().signal,
      care: {
        ...channelCareStub,
        maxRows: 10,
        readHead: async () => ({ number: state.head, recent }),
        listAnnounced: async ({ from, to, turn }) => {
          state.queries.push(from)
          state.turns.push(turn)
          if (refuses(state.queries.length)) return null
          const reach = from + range - 1n < to ? from + range - 1n : to
          const last = reach <= state.has ? reach : BigInt(state.has)
          if (last < from) return { channelIds: [], nextBlock: from }
          const blocks = [...announced].filter(([block]) => block >= from && block <= last)
          return { channelIds: blocks.flatMap(([, ids]) => ids), nextBlock: last + 1n }
        },
      },
      look: async (channelIds) => {
        if (look !== undefined && !(await look(channelIds))) return false
        state.looked.push(...channelIds)
        return true
      },
    })
  return { state, round }
}

const names = (count: number, prefix: string) => Array.from({ length: count }, (_, index) => prefix + index)

describe('announced withdrawals', () => {
  it('are found since the last round, and the next one begins behind them', async () => {
    const { state, round } = setup({
      announced: new Map([[950n, ['own', 'strange']]]),
      accounts: { own: 'account', other: 'account' },
    })
    await round()
    expect(state).toMatchObject({ looked: ['own'], cursor: 1_001n })
    const isOld = state.queries.map((from) => from < 900n)
    // The first query asks for all.
    expect(isOld).toEqual([true, ...Array(11).fill(false), ...Array(6).fill(true)])
  })

  it('are asked for once a round, also where the first query reaches a part of the blocks only', async () => {
    const { state, round } = setup({
      range: 100n,
      announced: new Map([
        [890n, ['old']],
        [920n, ['own']],
        [990n, ['late']],
      ]),
      accounts: { old: 'account', own: 'account', late: 'account' },
    })
    await round()
    expect(state).toMatchObject({ queries: [836n, 936n], looked: ['old', 'own', 'late'], cursor: 1_001n })
  })

  it('that a node lacked are read again for five minutes, however many blocks these are', async () => {
    const announced = new Map<bigint, readonly string[]>()
    const plan = { announced, accounts: { own: 'account' }, recent: 1_200n, cursor: 10_000n, head: 9_999n }
    const { state, round } = setup({ ...plan, range: 2_000n })
    const played = async (rounds: number) => {
      for (let count = 0; count < rounds; count += 1) {
        // Four blocks a second.
        state.head += 60n
        await round()
      }
    }
    await played(19)
    announced.set(10_001n, ['own'])
    await played(1)
    expect(state).toMatchObject({ looked: ['own'], queries: { length: 20 } })
  })

  it('are each read a second time before that ends, also where one query spans few blocks', async () => {
    const announced = new Map<bigint, readonly string[]>()
    const hidden = names(300, 'own ')
    const { state, round } = setup({
      announced,
      accounts: Object.fromEntries(hidden.map((name) => [name, 'account'])),
      recent: 1_200n,
      cursor: 10_000n,
      head: 9_999n,
      range: 10n,
    })
    for (let count = 0; count < 30; count += 1) {
      // Between one and three minutes of blocks: rounds that claim much take longer.
      state.head += count % 2 === 0 ? 240n : 60n
      await round()
      // What the round was not shown is there afterwards.
      for (let block = state.head - 9n; block <= state.head; block += 1n) {
        const name = hidden[announced.size]
        if (name !== undefined) announced.set(block, [name])
      }
    }
    const due = [...announced].filter(([block]) => block < state.head - 1_200n).flatMap(([, ids]) => ids)
    expect(due.length).toBeGreaterThan(100)
    expect(due.filter((name) => !state.looked.includes(name))).toEqual([])
  })

  it('are not passed over where the node that answers lacks their block', async () => {
    const { state, round } = setup({
      range: 1_000n,
      announced: new Map([[990n, ['own']]]),
      accounts: { own: 'account' },
    })
    state.has = 950
    await round()
    expect(state).toMatchObject({ looked: [], cursor: 951n, queries: [836n, 951n] })
    state.has = Number.POSITIVE_INFINITY
    await round()
    expect(state).toMatchObject({ looked: ['own'], cursor: 1_001n })
  })

  it('are asked for at another node in each round, since one may hide them', async () => {
    const { state, round } = setup({ range: 1_000n })
    for (let count = 0; count < 3; count += 1) await round()
    expect(state.turns).toEqual([0, 1, 2])
  })

  it('of blocks that a reorg replaced after they were read are found', async () => {
    const announced = new Map<bigint, readonly string[]>()
    const { state, round } = setup({ announced, accounts: { own: 'account' }, cursor: 1_001n, range: 100n })
    await round()
    expect(state.looked).toEqual([])
    announced.set(990n, ['own'])
    await round()
    expect(state).toMatchObject({ looked: ['own'], cursor: 1_001n })
  })

  it('of a network whose log was never read are looked for from the newest blocks on', async () => {
    const { state, round } = setup({ cursor: null, range: 100n })
    await round()
    expect(state.cursor).toBe(1_001n)
    expect(Math.min(...state.queries.map(Number))).toBe(937)
  })

  it('are read on from the newest block where a node had named one that does not exist', async () => {
    const { state, round } = setup({
      cursor: 9_000n,
      announced: new Map([[1_003n, ['own']]]),
      accounts: { own: 'account' },
    })
    await round()
    expect(state.cursor).toBe(1_001n)
    state.head = 1_005n
    await round()
    expect(state).toMatchObject({ looked: ['own'], cursor: 1_006n })
  })

  it('are asked for again where the nodes refuse so many blocks', async () => {
    const { state, round } = setup({
      announced: new Map([[950n, ['own']]]),
      accounts: { own: 'account' },
      refuses: (query) => query <= 5,
    })
    await round()
    expect(state).toMatchObject({ looked: ['own'], cursor: 1_001n })
  })

  it.each([
    { range: 10n, cursor: 950n },
    { range: 1_000n, cursor: 900n },
  ])(
    'of a page that could not be looked at are read again, $range blocks a query',
    async ({ range, cursor }) => {
      let isDown = true
      const { state, round } = setup({
        range,
        announced: new Map([[950n, ['own']]]),
        accounts: { own: 'account' },
        look: async () => !isDown,
      })
      await round()
      expect(state.cursor).toBe(cursor)
      isDown = false
      await round()
      expect(state).toMatchObject({ looked: ['own'], cursor: 1_001n })
    },
  )

  it('of very many strangers delay none of an account: they are not looked at', async () => {
    const announced = new Map(
      Array.from({ length: 90 }, (_, block) => [900n + BigInt(block), names(500, `strange ${block} `)]),
    )
    announced.set(990n, ['own'])
    const { state, round } = setup({ announced, accounts: { own: 'account' }, range: 1n })
    for (let count = 0; count < 2; count += 1) await round()
    expect(state.looked).toEqual(['own'])
  })

  it('of very many strangers in the blocks that are read again delay no new one', async () => {
    const clock = createManualClock()
    const announced = new Map(Array.from({ length: 64 }, (_, block) => [836n + BigInt(block), ['strange']]))
    announced.set(901n, ['own'])
    const { state, round } = setup({ announced, accounts: { own: 'account' }, range: 1n, head: 905n, clock })
    await round()
    expect(state).toMatchObject({ looked: ['own'], cursor: 906n })
    expect(state.queries.filter((from) => from < 900n)).toHaveLength(1 + 8)
  })

  it('of one account with very many do not come before the one of another in the same blocks', async () => {
    const many = names(3_000, 'many ')
    const clock = createManualClock()
    const { state, round } = setup({
      announced: new Map([[950n, [...many, 'own']]]),
      accounts: { ...Object.fromEntries(many.map((name) => [name, 'many'])), own: 'other' },
      clock,
      look: async () => {
        await clock.advance(1_000)
        return true
      },
    })
    await round()
    expect(state.looked.slice(0, 10)).toContain('own')
    // A round is over after 20 of its 300 reads; the next one goes on with those that are left.
    expect(state).toMatchObject({ cursor: 950n, looked: { length: 200 } })
    for (let count = 0; count < 15; count += 1) await round()
    expect(state.cursor).toBe(1_001n)
    expect(new Set(state.looked).size).toBe(3_001)
  })

  it('end no round where no node answers, which is logged once', async () => {
    const [logger, clock] = [createMemoryLogger(), createManualClock()]
    let isDown = true
    const { state, round } = setup({
      logger,
      clock,
      refuses: () => {
        if (isDown) throw new Error('no node')
        return false
      },
    })
    for (let count = 0; count < 3; count += 1) await round()
    expect(state.cursor).toBe(900n)
    isDown = false
    await clock.advance(300_000)
    await round()
    expect(state.cursor).toBe(1_001n)
    expect(logger.messages()).toEqual(['channel.watch_failed', 'channel.watch_recovered'])
  })

  it('are asked for after longer and longer rests where no node answers: payments use the same endpoints', async () => {
    const clock = createManualClock()
    let isDown = true
    const { state, round } = setup({
      clock,
      range: 1_000n,
      refuses: () => {
        if (isDown) throw new Error('no node')
        return false
      },
    })
    // An hour of rounds.
    for (let count = 0; count < 240; count += 1) {
      await round()
      await clock.advance(15_000)
    }
    expect(state.queries.length).toBeLessThan(25)
    isDown = false
    await clock.advance(300_000)
    for (let count = 0; count < 3; count += 1) await round()
    expect(state.cursor).toBe(1_001n)
    const answered = state.queries.length
    await round()
    expect(state.queries).toHaveLength(answered + 1)
  })
})
