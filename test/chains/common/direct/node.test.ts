import { describe, expect, it } from 'vitest'
import { createDirectNode } from '../../../../src/chains/common/direct/node.js'
import { RpcError } from '../../../../src/chains/nodes/endpoint.js'
import { silentLogger } from '../../../../src/platform/logger.js'

const never = () => Promise.reject(new Error('Not asked in this test'))

/** A node of one endpoint; each entry is the age of its newest block in seconds at a probe, or the probe's failure. */
const setup = (probes: readonly (number | Error)[]) => {
  let asked = 0
  let nowMs = 1_000_000_000
  const node = createDirectNode([{ host: 'node.example', request: never }], {
    network: 'toy:1',
    chain: 'toy',
    prove: async () => {
      const age = probes[asked]
      asked += 1
      if (age === undefined || age instanceof Error) throw age
      return { chain: 'toy', head: { number: BigInt(asked), timestamp: nowMs / 1_000 - age } }
    },
    maxHeadAgeSeconds: 60,
    logger: silentLogger,
    time: { monotonicMs: () => nowMs, unixSeconds: () => nowMs / 1_000 },
  })
  const pass = (milliseconds: number) => {
    nowMs += milliseconds
  }
  return { node, pass, countProbes: () => asked }
}

describe('a node whose newest known block is old', () => {
  it('is fresh again once it was asked for a newer one', async () => {
    const { node } = setup([100, 0])
    await node.probe()
    expect(node.isFresh()).toBe(false)
    await node.refresh()
    expect(node.isFresh()).toBe(true)
  })

  it('is asked once for all who wait for it, and once in 5 s while its chain stands still', async () => {
    const { node, pass, countProbes } = setup([100, 100, 0])
    await node.probe()
    await Promise.all([node.refresh(), node.refresh()])
    pass(4_999)
    await node.refresh()
    expect(countProbes()).toBe(2)
    expect(node.isFresh()).toBe(false)
    pass(1)
    await node.refresh()
    expect(node.isFresh()).toBe(true)
  })

  it.each([
    ['refuses for now', new RpcError(-32_005, 'Too many requests')],
    ['does not answer', new Error('Lost')],
  ])('is not fresh because it %s', async (_name, failure) => {
    const { node } = setup([100, failure])
    await node.probe()
    await node.refresh()
    expect(node.isFresh()).toBe(false)
    expect(node.findHeadAgeSeconds()).toBe(100)
  })
})
