import { describeSettlementJournal } from '../contracts/settlementJournalContract.js'
import { createMemoryPaidBlocks } from '../support/memoryConfirmedBlocks.js'
import { createMemoryJournal } from '../support/memoryJournal.js'

describeSettlementJournal('the journal that stands for it in tests', async () => {
  const journal = createMemoryJournal()
  return { journal, blocks: createMemoryPaidBlocks(journal), close: async () => undefined }
})
