import { z } from 'zod'
import { blockHashShape, operationHashShape, type Read, timeShape } from './source.js'

export const headerShape = z.object({
  chain_id: z.string(),
  hash: blockHashShape,
  level: z.int().nonnegative(),
  predecessor: blockHashShape,
  timestamp: timeShape,
})

/** They are those of the pass for manager operations, in the order of the block. */
const operationHashesShape = z.array(operationHashShape)

/** Where an operation is; `onTop`: blocks that follow its own. */
export interface Position {
  readonly block: Block
  readonly index: number
  readonly onTop: number
}

interface Search {
  readonly head: { readonly hash: string; readonly level: number }
  readonly operation: string
  readonly notBefore: Date
}

/** Two requests each. The next search continues where one ended. */
export const maxLoadedBlocks = 256
const maxWindow = 16

/**
 * Follows predecessors from the head, so that only blocks of the head's own chain count. No RPC finds an operation by its
 * hash. Blocks before `notBefore` are searched only as far as they are known. `unfinished`: there is more to search.
 */
export const findPosition = async (
  cache: BlockCache,
  { head, operation, notBefore }: Search,
): Promise<Position | 'missing' | 'unfinished'> => {
  let next = head.hash
  let loaded = 0
  let window = 1
  let isTooOld = false
  for (let onTop = 0; onTop < maxBlocks; onTop++) {
    const level = head.level - onTop
    if (cache.find(next) === null) {
      if (isTooOld) return 'missing'
      if (loaded >= maxLoadedBlocks) return 'unfinished'
      // Read ahead by level, more with each step: requests at once in place of one after another.
      if (onTop > 0) await cache.loadLevels(listLevels(level, window))
      loaded += window
      window = Math.min(window * 2, maxWindow)
    }
    const block = await cache.load(next)
    if (block.level !== level) throw new Error('The node returned a block of another level')
    const index = block.positions.get(operation)
    if (index !== undefined) return { block, index, onTop }
    isTooOld = block.time < notBefore
    if (level <= 1) return 'missing'
    next = block.predecessor
  }
  return 'unfinished'
}

/** Downwards; block 0 is the genesis block, which has no operations. */
const listLevels = (top: number, count: number): readonly number[] =>
  Array.from({ length: Math.min(count, top) }, (_, index) => top - index)

interface Block {
  readonly hash: string
  readonly level: number
  readonly predecessor: string
  readonly time: Date
  /** Position of each operation of a manager, by hash. */
  readonly positions: ReadonlyMap<string, number>
}

/** Blocks by their own hash: what a reorg orphans stays true of its hash, and is never reached from the new head. */
interface BlockCache {
  find(hash: string): Block | null
  /** Two requests, unless the block is known. */
  load(hash: string): Promise<Block>
  /** The blocks of these levels now, as far as none of the level is known. Requests at once. */
  loadLevels(levels: readonly number[]): Promise<void>
}

/** About seven hours of blocks, unless they are full. */
const maxBlocks = 4_000
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
