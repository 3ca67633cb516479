import type { Ask } from '../common/direct/node.js'
import { hashExtrinsic, readBlockTime } from './extrinsic.js'
import { type BlockReference, getBlock, listBlockHashes } from './rpc.js'

/**
 * Where extrinsics stand in recent final blocks, because no request finds an extrinsic by its hash. Only a place to look at:
 * evidence is read from the block itself.
 */
export interface BlockIndex {
  /** Final blocks that hold the extrinsic, of those read so far. */
  find(extrinsicHash: string): readonly BlockReference[]
  /**
   * Reads final blocks, newest first, back to this time. Concurrent calls share one reading. False if the bound on requests
   * ended it before; the next call continues.
   */
  follow(ask: Ask, finalized: BlockReference, notBefore: Date): Promise<boolean>
  /** Whether a block that is not final yet holds the extrinsic. */
  isInBestBlocks(ask: Ask, finalized: BlockReference, best: number, extrinsicHash: string): Promise<boolean>
}

interface BlockIndexBounds {
  /** Read per call of `follow`. */
  readonly maxReads: number
  readonly maxBlocks: number
}

/** At 6 s a block: two hours per look-up, seven hours in memory. */
const defaultBounds: BlockIndexBounds = { maxReads: 1_200, maxBlocks: 4_096 }

/** Blocks of one JSON-RPC batch. */
const chunkSize = 16
/** Finality lags by about ten blocks. */
const maxBestBlocks = 64

interface IndexedBlock extends BlockReference {
  readonly extrinsicHashes: readonly string[]
  /** Null for the rare block without the inherent. */
  readonly time: Date | null
}

export const createBlockIndex = ({ maxReads, maxBlocks } = defaultBounds): BlockIndex => {
  const finalBlocks = new Map<number, IndexedBlock>()
  const places = new Map<string, Set<IndexedBlock>>()
  /** By block hash: a block's content cannot change. */
  const bestBlocks = new Map<string, IndexedBlock>()
  let reading: Promise<unknown> | null = null

  const add = (block: IndexedBlock): void => {
    if (finalBlocks.has(block.number)) return
    finalBlocks.set(block.number, block)
    for (const hash of block.extrinsicHashes) {
      places.set(hash, (places.get(hash) ?? new Set<IndexedBlock>()).add(block))
    }
    if (finalBlocks.size > maxBlocks) forget(Math.min(...finalBlocks.keys()))
  }

  const forget = (number: number): void => {
    const block = finalBlocks.get(number)
    if (block === undefined) return
    finalBlocks.delete(number)
    for (const hash of block.extrinsicHashes) {
      const holders = places.get(hash)
      holders?.delete(block)
      if (holders?.size === 0) places.delete(hash)
    }
  }

  const read = async (ask: Ask, { number, hash }: BlockReference): Promise<IndexedBlock> => {
    const { extrinsics } = await getBlock(ask, hash)
    return { number, hash, extrinsicHashes: extrinsics.map(hashExtrinsic), time: readBlockTime(extrinsics) }
  }

  /** The blocks of these numbers on the chain of the finalized block. */
  const listFinal = async (ask: Ask, finalized: BlockReference, numbers: readonly number[]) => {
    const [latest] = [...finalBlocks.values()].slice(-1)
    const known = latest !== undefined && latest.number <= finalized.number ? latest : finalized
    const hashes = await listBlockHashes(ask, [...numbers, known.number, finalized.number])
    if (hashes.at(-1) !== finalized.hash) throw new Error('The nodes disagree about the finalized block')
    if (hashes.at(-2) !== known.hash) {
      // A node that follows another chain filled the index, or answers now: what was read proves nothing.
      finalBlocks.clear()
      places.clear()
      throw new Error('The nodes disagree about final blocks')
    }
    return numbers.map((number, index) => {
      const hash = hashes[index]
      if (hash === undefined || hash === null) throw new Error('The node does not know a final block')
      return { number, hash }
    })
  }

  const readBack = async (ask: Ask, finalized: BlockReference, notBefore: Date): Promise<boolean> => {
    const lowest = Math.max(1, finalized.number - maxBlocks + 1)
    let next = finalized.number
    for (let reads = 0; reads < maxReads; ) {
      const missing: number[] = []
      for (; next >= lowest && missing.length < chunkSize; next -= 1) {
        const known = finalBlocks.get(next)
        if (known === undefined) missing.push(next)
        else if (isBefore(known, notBefore)) return await readChunk(ask, finalized, missing).then(() => true)
      }
      const blocks = await readChunk(ask, finalized, missing)
      reads += blocks.length
      if (blocks.some((block) => isBefore(block, notBefore))) return true
      // Older blocks than `lowest` may belong to the time asked for, unless the chain starts there.
      if (next < lowest) return lowest === 1
    }
    return false
  }

  const readChunk = async (ask: Ask, finalized: BlockReference, numbers: readonly number[]) => {
    if (numbers.length === 0) return []
    const references = await listFinal(ask, finalized, numbers)
    const blocks = await Promise.all(references.map((reference) => read(ask, reference)))
    for (const block of blocks) add(block)
    return blocks
  }

  const readBest = async (ask: Ask, reference: BlockReference): Promise<IndexedBlock> => {
    const block = bestBlocks.get(reference.hash) ?? (await read(ask, reference))
    bestBlocks.set(reference.hash, block)
    const [oldest] = bestBlocks.keys()
    if (bestBlocks.size > maxBestBlocks && oldest !== undefined) bestBlocks.delete(oldest)
    return block
  }

  return {
    find: (extrinsicHash) => [...(places.get(extrinsicHash) ?? [])],
    follow: async (ask, finalized, notBefore) => {
      // What another call reads need not be read twice; its failure is that of the chain.
      while (reading !== null) await reading
      const own = readBack(ask, finalized, notBefore)
      reading = own
      try {
        return await own
      } finally {
        reading = null
      }
    },
    isInBestBlocks: async (ask, finalized, best, extrinsicHash) => {
      const count = Math.min(maxBestBlocks, best - finalized.number)
      if (count <= 0) return false
      const numbers = Array.from({ length: count }, (_, index) => finalized.number + 1 + index)
      const hashes = await listBlockHashes(ask, numbers)
      const blocks = await Promise.all(
        hashes.flatMap((hash, index) =>
          hash === null ? [] : [readBest(ask, { hash, number: finalized.number + 1 + index })],
        ),
      )
      return blocks.some(({ extrinsicHashes }) => extrinsicHashes.includes(extrinsicHash))
    },
  }
}

const isBefore = ({ time }: IndexedBlock, limit: Date): boolean => time !== null && time < limit
