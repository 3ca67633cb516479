import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Ask } from '../../../src/chains/common/direct/node.js'
import { createBlockIndex } from '../../../src/chains/polkadot/blockIndex.js'
import { hashExtrinsic } from '../../../src/chains/polkadot/extrinsic.js'

const blockSeconds = 6

/** Blocks 1 to `height`, one every six seconds, each with its time and one extrinsic of its own. */
const createNode = (height: number, contents: Readonly<Record<number, string>> = {}, branch = '0') => {
  const calls: string[] = []
  const hashOf = (number: number) => `0x${branch}${number.toString(16).padStart(63, '0')}`
  const extrinsicOf = (number: number) => contents[number] ?? `0xaa${number.toString(16).padStart(8, '0')}`
  const timeOf = (number: number) => new Date(1_790_000_000_000 + number * blockSeconds * 1_000)
  const inherentOf = (number: number) => {
    const bytes = Buffer.alloc(6)
    bytes.writeUIntLE(timeOf(number).getTime(), 0, 6)
    return `0x280403000b${bytes.toString('hex')}`
  }
  const ask: Ask = async (method, params, schema) => {
    calls.push(method)
    const [first] = z.array(z.unknown()).parse(params)
    if (method === 'chain_getBlockHash') {
      return schema.parse(
        z
          .array(z.number())
          .parse(first)
          .map((number) => (number > height ? null : hashOf(number))),
      )
    }
    const number = Number.parseInt(String(first).slice(3), 16)
    return schema.parse({
      block: {
        header: { number: `0x${number.toString(16)}`, parentHash: hashOf(number - 1) },
        extrinsics: [inherentOf(number), extrinsicOf(number)],
      },
    })
  }
  return {
    ask,
    calls,
    timeOf,
    finalized: { number: height, hash: hashOf(height) },
    extrinsicHash: (number: number) => hashExtrinsic(extrinsicOf(number)),
    reference: (number: number) => ({ number, hash: hashOf(number) }),
  }
}

const countBlocks = (calls: readonly string[]) => calls.filter((call) => call === 'chain_getBlock').length

describe('the index of final blocks', () => {
  it('reads back to the age limit, and no further', async () => {
    const node = createNode(1_000)
    const index = createBlockIndex()
    expect(await index.follow(node.ask, node.finalized, node.timeOf(950))).toBe(true)
    expect(index.find(node.extrinsicHash(950))).toMatchObject([node.reference(950)])
    expect(index.find(node.extrinsicHash(900))).toEqual([])
    expect(countBlocks(node.calls)).toBeLessThanOrEqual(51 + 16)
  })

  it('reads each block once', async () => {
    const node = createNode(1_000)
    const index = createBlockIndex()
    await index.follow(node.ask, node.finalized, node.timeOf(950))
    const before = node.calls.length
    await index.follow(node.ask, node.finalized, node.timeOf(950))
    expect(node.calls.length).toBe(before)
  })

  it('is shared by concurrent look-ups', async () => {
    const node = createNode(1_000)
    const index = createBlockIndex()
    const follow = () => index.follow(node.ask, node.finalized, node.timeOf(950))
    expect(await Promise.all([follow(), follow(), follow()])).toEqual([true, true, true])
    expect(countBlocks(node.calls)).toBeLessThanOrEqual(51 + 16)
  })

  it('bounds the blocks read per look-up, says that it is incomplete, and continues', async () => {
    const node = createNode(1_000)
    const index = createBlockIndex({ maxReads: 32, maxBlocks: 4_096 })
    const follow = () => index.follow(node.ask, node.finalized, node.timeOf(930))
    expect(await follow()).toBe(false)
    expect(countBlocks(node.calls)).toBe(32)
    await follow()
    expect(await follow()).toBe(true)
    expect(index.find(node.extrinsicHash(931))).toHaveLength(1)
  })

  it('bounds its memory: the oldest blocks are forgotten, and their absence proves nothing', async () => {
    const index = createBlockIndex({ maxReads: 1_000, maxBlocks: 20 })
    const node = createNode(100)
    expect(await index.follow(node.ask, node.finalized, node.timeOf(1))).toBe(false)
    const later = createNode(110)
    await index.follow(later.ask, later.finalized, later.timeOf(105))
    expect(index.find(later.extrinsicHash(110))).toHaveLength(1)
    expect(index.find(node.extrinsicHash(81))).toEqual([])
  })

  it('reaches the first block of a young chain', async () => {
    const node = createNode(5)
    expect(await createBlockIndex().follow(node.ask, node.finalized, new Date(0))).toBe(true)
  })

  it('knows every place of a hash that is not unique', async () => {
    const node = createNode(100, { 90: '0xbb', 95: '0xbb' })
    const index = createBlockIndex()
    await index.follow(node.ask, node.finalized, node.timeOf(80))
    expect(index.find(hashExtrinsic('0xbb'))).toHaveLength(2)
  })

  it('is not filled by a node that is on another branch', async () => {
    const node = createNode(110)
    const index = createBlockIndex()
    const elsewhere = { number: 110, hash: `0x${'ff'.repeat(32)}` }
    await expect(index.follow(node.ask, elsewhere, node.timeOf(90))).rejects.toThrow('disagree')
    expect(index.find(node.extrinsicHash(110))).toEqual([])
    // Nor if the branches have older blocks in common.
    await index.follow(node.ask, node.reference(100), node.timeOf(90))
    await expect(index.follow(node.ask, elsewhere, node.timeOf(90))).rejects.toThrow('disagree')
    expect(index.find(node.extrinsicHash(110))).toEqual([])
    expect(index.find(node.extrinsicHash(100))).toHaveLength(1)
  })

  it('is emptied when nodes disagree about a final block, and filled again', async () => {
    const [node, other] = [createNode(100), createNode(110, { 90: '0xbb' }, '7')]
    const index = createBlockIndex()
    await index.follow(node.ask, node.finalized, node.timeOf(80))
    await expect(index.follow(other.ask, other.finalized, other.timeOf(80))).rejects.toThrow('disagree')
    expect(await index.follow(other.ask, other.finalized, other.timeOf(80))).toBe(true)
    expect(index.find(hashExtrinsic('0xbb'))).toHaveLength(1)
  })

  it('survives a failure of the node', async () => {
    const node = createNode(100)
    const index = createBlockIndex()
    const failing: Ask = async () => {
      throw new Error('down')
    }
    await expect(index.follow(failing, node.finalized, node.timeOf(90))).rejects.toThrow('down')
    expect(await index.follow(node.ask, node.finalized, node.timeOf(90))).toBe(true)
  })
})

describe('blocks that are not final', () => {
  it('are looked into, each once', async () => {
    const node = createNode(110)
    const index = createBlockIndex()
    const finalized = node.reference(100)
    const isIn = (hash: string) => index.isInBestBlocks(node.ask, finalized, 110, hash)
    expect(await isIn(node.extrinsicHash(107))).toBe(true)
    expect(await isIn(node.extrinsicHash(100))).toBe(false)
    expect(countBlocks(node.calls)).toBe(10)
  })

  it('are bounded', async () => {
    const node = createNode(1_000)
    await createBlockIndex().isInBestBlocks(node.ask, node.reference(100), 1_000, '0x')
    expect(countBlocks(node.calls)).toBe(64)
  })
})
