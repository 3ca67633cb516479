import type { Log, Rpc } from '../rpc/rpc.js'

export interface LogSearch {
  /** For `findLog`: returns only wanted logs, and remembers the progress of this search alone. */
  readonly rpc: Rpc
  /** Whether the last search without a match reached its end. */
  isComplete(): boolean
}

/** Searches logs by more than address and topics; `key` distinguishes searches with equal topics. */
export const searchLogs = (rpc: Rpc, key: string, isWanted: (log: Log) => Promise<boolean>): LogSearch => {
  const { logMemory: memory } = rpc
  let isUnfinished = false
  const nameOf = (search: string) => `${key} ${search}`
  return {
    rpc: {
      ...rpc,
      getLogs: async (filter) => {
        const logs = await rpc.getLogs(filter)
        const wanted = await Promise.all(logs.map(isWanted))
        return logs.filter((_, index) => wanted[index])
      },
      logMemory: {
        get range() {
          return memory.range
        },
        onAnswer: memory.onAnswer,
        onRefusal: memory.onRefusal,
        recall: (search) => memory.recall(nameOf(search)),
        remember: (search, nextBlock) => {
          isUnfinished = true
          memory.remember(nameOf(search), nextBlock)
        },
        forget: (search) => {
          isUnfinished = false
          memory.forget(nameOf(search))
        },
      },
    },
    isComplete: () => !isUnfinished,
  }
}
