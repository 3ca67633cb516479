import type { SettlementCounter } from '../../src/ports/settlementOverview.js'

/** Entries of the form `event network`, in order. */
interface MemoryCounter extends SettlementCounter {
  readonly counted: readonly string[]
}

export const createMemoryCounter = (): MemoryCounter => {
  const counted: string[] = []
  return {
    counted,
    countReorged: (network) => void counted.push(`reorged ${network}`),
    countLost: (network) => void counted.push(`lost ${network}`),
  }
}
