import { describe, expect, it } from 'vitest'
import { createDirectNode } from '../../../../src/chains/common/direct/node.js'
import { silentLogger } from '../../../../src/platform/logger.js'

const never = () => Promise.reject(new Error('Not asked in this test'))
const unixSeconds = () => Math.floor(Date.now() / 1_000)

/** A node of one endpoint, whose newest block is as many seconds old as `ages` says of each probe. */
const setup = (ages: readonly number[]) => {
  let probes = 0
  const node = createDirectNode([{ host: 'node.example', request: never }], {
    network: 'toy:1',
    chain: 'toy',
    prove: async () => {
      const age = ages[probes] ?? 0
      probes += 1
      return { chain: 'toy', head: { number: BigInt(probes), timestamp: unixSeconds() - age } }
    },
    maxHeadAgeSeconds: 60,
    logger: silentLogger,
  })
  return { node, countProbes: () => probes }
}

describe('a node whose newest known block is old', () => {
  it('is fresh again once it was asked for a newer one', async () => {
    const { node } = setup([100, 0])
    await node.probe()
    expect(node.isFresh()).toBe(false)
    await node.refresh()
    expect(node.isFresh()).toBe(true)
  })

  it('is asked once for all who wait for it, and not again at once while its chain stands still', async () => {
    const { node, countProbes } = setup([100, 100, 0])
    await node.probe()
    await Promise.all([node.refresh(), node.refresh()])
    await node.refresh()
    expect(countProbes()).toBe(2)
    expect(node.isFresh()).toBe(false)
  })
})
