import type { SettlementCounter } from '../../src/ports/settlementCounter.js'

/** What was counted, as `event network`, in order. */
export interface MemoryCounter extends SettlementCounter {
  readonly counted: readonly string[]
}

/** Creates a counter that a test can read. */
export const createMemoryCounter = (): MemoryCounter => {
  const counted: string[] = []
  return {
    counted,
    countReorged: (network) => void counted.push(`reorged ${network}`),
    countLost: (network) => void counted.push(`lost ${network}`),
  }
}
