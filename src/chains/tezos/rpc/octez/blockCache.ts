import type { Read } from '../read.js'
import { headerShape, operationHashesShape } from './wireShapes.js'

export interface Block {
  readonly hash: string
  readonly level: number
  readonly predecessor: string
  readonly time: Date
  /** Position of each operation of a manager, by hash. */
  readonly positions: ReadonlyMap<string, number>
}

/** Blocks by their own hash: what a reorg orphans stays true of its hash, and is never reached from the new head. */
export interface BlockCache {
  find(hash: string): Block | null
  /** Two requests, unless the block is known. */
  load(hash: string): Promise<Block>
  /** The blocks of these levels now, as far as none of the level is known. Requests at once. */
  loadLevels(levels: readonly number[]): Promise<void>
}

/** About seven hours of blocks, unless they are full. */
export const maxBlocks = 4_000
const limits = { blocks: maxBlocks, operations: 200_000 }
const evictedShare = 0.1

export const createBlockCache = (
  read: Read,
  { blocks: most, operations: mostOperations } = limits,
): BlockCache => {
  const blocks = new Map<string, Block>()
  const levels = new Set<number>()
  const loading = new Map<string, Promise<Block>>()
  let operations = 0

  const evict = () => {
    const oldest = [...blocks.values()].toSorted((left, right) => left.level - right.level)
    for (const { hash, level, positions } of oldest.slice(0, Math.ceil(oldest.length * evictedShare))) {
      blocks.delete(hash)
      levels.delete(level)
      operations -= positions.size
    }
  }

  const keep = (block: Block) => {
    if (blocks.has(block.hash)) return
    blocks.set(block.hash, block)
    levels.add(block.level)
    operations += block.positions.size
    if (blocks.size > most || operations > mostOperations) evict()
  }

  const loadHeader = async (id: string) => {
    const header = await read(`/chains/main/blocks/${id}/header`, headerShape)
    return { ...header, time: header.timestamp }
  }

  const loadOperations = async (hash: string) =>
    new Map(
      (await read(`/chains/main/blocks/${hash}/operation_hashes/3`, operationHashesShape)).map(
        (operation, index) => [operation, index],
      ),
    )

  /** Concurrent callers share the requests. */
  const once = (key: string, request: () => Promise<Block>): Promise<Block> => {
    const shared = loading.get(key)
    if (shared !== undefined) return shared
    const started = request().finally(() => loading.delete(key))
    loading.set(key, started)
    return started
  }

  const load = (hash: string) =>
    once(hash, async () => {
      const known = blocks.get(hash)
      if (known !== undefined) return known
      const [header, positions] = await Promise.all([loadHeader(hash), loadOperations(hash)])
      if (header.hash !== hash) throw new Error('The node returned another block')
      const block = { ...header, positions }
      keep(block)
      return block
    })

  const loadLevel = (level: number) =>
    once(String(level), async () => {
      const header = await loadHeader(String(level))
      if (header.level !== level) throw new Error('The node returned a block of another level')
      const block = { ...header, positions: await loadOperations(header.hash) }
      keep(block)
      return block
    })

  return {
    find: (hash) => blocks.get(hash) ?? null,
    load,
    loadLevels: async (wanted) => {
      await Promise.all(wanted.filter((level) => !levels.has(level)).map(loadLevel))
    },
  }
}
