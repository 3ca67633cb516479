import { describeSettlementJournal } from '../contracts/settlementJournalContract.js'
import { createMemoryConfirmedBlocks } from '../support/memoryConfirmedBlocks.js'
import { createMemoryJournal } from '../support/memoryJournal.js'

describeSettlementJournal('the journal that stands for it in tests', async () => {
  const journal = createMemoryJournal()
  return { journal, blocks: createMemoryConfirmedBlocks(journal), close: async () => undefined }
})
