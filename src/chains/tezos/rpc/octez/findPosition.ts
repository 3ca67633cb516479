import type { BlockCache } from './blockCache.js'
import { type Block, maxBlocks } from './blockCache.js'

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
