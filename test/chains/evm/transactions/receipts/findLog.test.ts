import { numberToHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { createRpc, type LogFilter, type Rpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import { findChange, findLog } from '../../../../../src/chains/evm/transactions/receipts/findLog.js'
import { RpcError } from '../../../../../src/chains/nodes/endpoint.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { randomAddress, randomHex } from '../../../../support/evm/authorization.js'

const address = randomAddress()
const topics = [randomHex(32)]
const secondsPerBlock = 2n
// A search begins five minutes earlier, for clocks that differ.
const slackBlocks = 150n

interface Node {
  readonly logBlock: bigint | null
  /** The most blocks that a query may span. */
  readonly limit?: bigint
  /** What a refused query is answered. */
  readonly refusal?: () => Error
}

/** A chain whose only matching log is in the given block. */
const script = ({ logBlock, limit = 1_000_000n, refusal }: Node) => {
  const asked: LogFilter[] = []
  let headers = 0
  const refuse = refusal ?? (() => new RpcError(-32_000, `block range is limited to ${limit}`))
  const rpc: Rpc = {
    ...createRpc('eip155:84532', [], silentLogger),
    getLogs: async (filter) => {
      asked.push(filter)
      if (filter.toBlock - filter.fromBlock + 1n > limit) throw refuse()
      const isInside = logBlock !== null && filter.fromBlock <= logBlock && logBlock <= filter.toBlock
      return isInside ? [{ address, topics, data: '0x' }] : []
    },
    getBlock: async (at) => {
      headers += 1
      const number = at === 'latest' ? 0n : at
      return { number, hash: randomHex(32), timestamp: number * secondsPerBlock }
    },
  }
  const find = (at: bigint, sinceBlock: bigint) =>
    findLog(rpc, { address, topics, at, since: new Date(Number(sinceBlock * secondsPerBlock) * 1_000) })
  return { find, asked, rpc, countHeaders: () => headers }
}

const spanOf = ({ fromBlock, toBlock }: LogFilter) => toBlock - fromBlock + 1n

/** The queries that were answered cover everything between two blocks once. */
const expectNoGap = (answered: readonly LogFilter[]) => {
  for (const [index, { fromBlock }] of answered.entries()) {
    const before = answered[index - 1]
    if (before !== undefined) expect(fromBlock).toBe(before.toBlock + 1n)
  }
}

describe('a log search', () => {
  it('goes forward from the given time, in ranges of 2,000 blocks without a gap', async () => {
    const { find, asked } = script({ logBlock: 55_500n })
    expect(await find(60_000n, 50_000n)).toMatchObject({ address })
    const [first] = asked
    expect(first?.fromBlock).toBeLessThanOrEqual(50_000n - slackBlocks)
    expect(first?.fromBlock).toBeGreaterThan(50_000n - slackBlocks - 2_000n)
    expect(asked.map(spanOf)).toEqual(asked.map(() => 2_000n))
    expectNoGap(asked)
    expect(asked.at(-1)?.toBlock).toBeGreaterThanOrEqual(55_500n)
    for (const filter of asked) expect(filter).toMatchObject({ address, topics })
  })

  it('finds the time of a settlement in few requests, however old it is', async () => {
    const { find, asked, countHeaders } = script({ logBlock: 1_000_100n })
    expect(await find(50_000_000n, 1_000_000n)).toMatchObject({ address })
    expect(asked.length).toBeLessThanOrEqual(2)
    expect(countHeaders()).toBeLessThan(40)
  })

  it('begins at the first block where the time is earlier, and ends at the given one', async () => {
    const { find, asked } = script({ logBlock: null })
    expect(await find(2_500n, 10n)).toBeNull()
    expect(asked.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])).toEqual([
      [0n, 1_999n],
      [2_000n, 2_500n],
    ])
  })

  it.each([500n, 10n, 1n])('halves its range until the nodes take it: %i blocks', async (limit) => {
    const { find, asked } = script({ logBlock: 99_990n, limit })
    let found = await find(100_000n, 100_000n)
    for (let round = 0; found === null && round < 100; round++) found = await find(100_000n, 100_000n)
    expect(found).toMatchObject({ address })
    const answered = asked.filter((filter) => spanOf(filter) <= limit)
    for (const [index, { fromBlock }] of answered.entries()) {
      const before = answered[index - 1]
      if (before !== undefined) expect(fromBlock).toBeLessThanOrEqual(before.toBlock + 1n)
    }
    // What was refused once is not asked again.
    expect(asked.filter((filter) => spanOf(filter) > limit).length).toBeLessThanOrEqual(11)
  })

  it('goes on in a later round where fifty queries did not suffice', async () => {
    const { find, asked } = script({ logBlock: 990_000n, limit: 10n })
    let found = await find(1_000_000n, 985_000n)
    for (let round = 0; found === null && round < 50; round++) {
      const before = asked.length
      found = await find(1_000_000n, 985_000n)
      expect(asked.length - before).toBeLessThanOrEqual(50)
    }
    expect(found).toMatchObject({ address })
  })

  it('begins anew after a search without a result: the node may have lagged behind', async () => {
    const { find, asked } = script({ logBlock: null })
    expect(await find(2_500n, 2_500n)).toBeNull()
    const { length } = asked
    expect(await find(2_500n, 2_500n)).toBeNull()
    expect(asked.slice(length)).toEqual(asked.slice(0, length))
  })

  it('fails where even one block is refused, and asks for the full range the next time', async () => {
    const { find, asked } = script({ logBlock: 5n, limit: 0n })
    await expect(find(2_500n, 2_500n)).rejects.toThrow('limited')
    expect(asked.at(-1)).toSatisfy((filter: LogFilter) => spanOf(filter) === 1n)
    const { length } = asked
    await expect(find(2_500n, 2_500n)).rejects.toThrow('limited')
    expect(asked[length]).toEqual(asked[0])
  })

  it('fails at once where no node answers, and asks for less the next time', async () => {
    const { find, asked } = script({ logBlock: 5n, limit: 0n, refusal: () => new Error('timed out') })
    await expect(find(2_500n, 2_500n)).rejects.toThrow('timed out')
    expect(asked).toHaveLength(1)
    await expect(find(2_500n, 2_500n)).rejects.toThrow('timed out')
    expect(asked.map(spanOf)).toEqual([2_000n, 1_000n])
  })
})

describe('a search for the event of a change', () => {
  const changes = [100n, 5_000n, 5_400n, 9_000n] as const

  /** A chain whose events raise a total by ten each; `hidden`: the node that answers does not have the newest one yet. */
  const scriptChanges = ({ limit = 1_000_000n }: Pick<Node, 'limit'> = {}) => {
    const { asked, rpc } = script({ logBlock: null, limit })
    let hidden = 0
    const chain: Rpc = {
      ...rpc,
      getLogs: async (filter) => {
        await rpc.getLogs(filter)
        const known = changes.slice(0, changes.length - hidden)
        return known
          .filter((block) => filter.fromBlock <= block && block <= filter.toBlock)
          .map((block) => ({ address, topics, data: numberToHex(block) }))
      },
    }
    const find = async (total: bigint): Promise<bigint | null> => {
      const { log } = await findChange(chain, {
        address,
        topics,
        at: 10_000n,
        since: new Date(0),
        key: `${total}`,
        value: 40n,
        stepBack: async (_log, after) => (after - 10n <= total && total < after ? null : after - 10n),
      })
      return log === null ? null : BigInt(log.data)
    }
    return { find, asked, hide: (count: number) => (hidden = count) }
  }

  it('goes back from the newest block, by what each event changed', async () => {
    const { find, asked } = scriptChanges()
    expect(await find(0n)).toBe(100n)
    expect(asked.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])).toEqual([
      [8_001n, 10_000n],
      [6_001n, 8_000n],
      [4_001n, 6_000n],
      [2_001n, 4_000n],
      [1n, 2_000n],
    ])
    expect(await Promise.all([10n, 20n, 30n].map(find))).toEqual([5_000n, 5_400n, 9_000n])
  })

  it('goes on with the value that it had where fifty queries did not suffice', async () => {
    const { find, asked } = scriptChanges({ limit: 10n })
    let found = await find(10n)
    for (let round = 0; found === null && round < 50; round++) {
      const before = asked.length
      found = await find(10n)
      expect(asked.length - before).toBeLessThanOrEqual(50)
    }
    expect(found).toBe(5_000n)
  })

  it('begins anew after a search without a result: the node may have lagged behind', async () => {
    const { find, hide } = scriptChanges()
    hide(1)
    expect(await find(0n)).toBeNull()
    hide(0)
    expect(await find(0n)).toBe(100n)
  })
})
