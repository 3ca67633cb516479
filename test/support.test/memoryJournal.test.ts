import { describeSettlementJournal } from '../contracts/settlementJournalContract.js'
import { createMemoryConfirmedBlocks } from '../support/memoryConfirmedBlocks.js'
import { createMemoryJournal } from '../support/memoryJournal.js'

describeSettlementJournal('the in-memory journal', async () => {
  const journal = createMemoryJournal()
  return { journal, blocks: createMemoryConfirmedBlocks(journal), close: async () => undefined }
})
