import type { ConfirmedBlock, ConfirmedBlocks, Settlement } from '../../src/ports/settlementJournal.js'
import type { MemoryJournal } from './memoryJournal.js'

/** The ConfirmedBlocks port on an in-memory journal. */
export const createMemoryConfirmedBlocks = (journal: MemoryJournal): ConfirmedBlocks => {
  const listRows = ({ network, block }: ConfirmedBlock): readonly Settlement[] =>
    journal.list().filter((row) => row.network === network && row.block?.hash === block.hash && !row.isFinal)
  return {
    list: async (limit) => {
      const blocks = new Map<string, ConfirmedBlock>()
      for (const { network, scheme, block, isFinal } of journal.list()) {
        if (block !== null && !isFinal) blocks.set(`${network} ${block.hash}`, { network, scheme, block })
      }
      return [...blocks.values()].slice(0, limit)
    },
    markFinal: async (block) => {
      for (const { id } of listRows(block)) journal.change(id, { isFinal: true })
    },
    reopen: async (block) =>
      listRows(block).flatMap(({ id }) => {
        const open = { closedAt: null, block: null, settledAmount: null, gasUsed: null, isOwned: false }
        journal.change(id, { ...open, state: 'pending' })
        return journal.list().filter((row) => row.id === id)
      }),
  }
}
