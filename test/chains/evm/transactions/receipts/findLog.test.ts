import { describe, expect, it } from 'vitest'
import { createRpc, type LogFilter, type Rpc } from '../../../../../src/chains/evm/rpc/rpc.js'
import { findLog } from '../../../../../src/chains/evm/transactions/receipts/findLog.js'
import { silentLogger } from '../../../../../src/platform/logger.js'
import { randomAddress, randomHex } from '../../../../support/evm/authorization.js'

const address = randomAddress()
const topics = [randomHex(32)]
const secondsPerBlock = 2n

/** A chain whose only matching log is in the given block. */
const script = (logBlock: bigint | null) => {
  const asked: LogFilter[] = []
  const rpc: Rpc = {
    ...createRpc('eip155:84532', [], silentLogger),
    getLogs: async (filter) => {
      asked.push(filter)
      const isInside = logBlock !== null && filter.fromBlock <= logBlock && logBlock <= filter.toBlock
      return isInside ? [{ address, topics, data: '0x' }] : []
    },
    getBlock: async (at) => {
      const number = at === 'latest' ? 0n : at
      return { number, hash: randomHex(32), timestamp: number * secondsPerBlock }
    },
  }
  const find = (at: bigint, sinceBlock: bigint) =>
    findLog(rpc, { address, topics, at, since: new Date(Number(sinceBlock * secondsPerBlock) * 1_000) })
  return { find, asked }
}

const rangesOf = (asked: readonly LogFilter[]) => asked.map(({ fromBlock, toBlock }) => [fromBlock, toBlock])

describe('a log search', () => {
  it('goes backwards in ranges of 2,000 blocks without overlaps or gaps', async () => {
    const { find, asked } = script(5_500n)
    expect(await find(9_999n, 0n)).toMatchObject({ address })
    expect(rangesOf(asked)).toEqual([
      [8_000n, 9_999n],
      [6_000n, 7_999n],
      [4_000n, 5_999n],
    ])
    for (const filter of asked) expect(filter).toMatchObject({ address, topics })
  })

  it('ends at the first block', async () => {
    const { find, asked } = script(null)
    expect(await find(2_500n, 0n)).toBeNull()
    expect(rangesOf(asked)).toEqual([
      [501n, 2_500n],
      [0n, 500n],
    ])
  })

  it('ends in the range of the given time, minus five minutes for clock skew', async () => {
    // 150 blocks of two seconds: a range that starts before 8,000 is read, and no further one.
    const { find, asked } = script(100n)
    expect(await find(9_999n, 8_150n)).toBeNull()
    expect(rangesOf(asked)).toEqual([
      [8_000n, 9_999n],
      [6_000n, 7_999n],
    ])
    const newer = script(100n)
    expect(await newer.find(9_999n, 8_151n)).toBeNull()
    expect(rangesOf(newer.asked)).toEqual([[8_000n, 9_999n]])
  })

  it('leaves a search of more than fifty ranges to a later round', async () => {
    const { find, asked } = script(null)
    expect(await find(1_000_000n, 0n)).toBeNull()
    expect(asked).toHaveLength(50)
  })
})
