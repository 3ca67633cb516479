import type { Stores } from '../../stores.js'
import { mapDatabaseErrors } from '../database/databaseErrors.js'
import type { Database } from '../openDatabase.js'
import { createQuotas } from '../quota/quotas.js'
import { createAccountSettlements } from './accountSettlements.js'
import { createBroadcastRetention } from './broadcastRetention.js'
import { createConfirmedBlocks } from './confirmedBlocks.js'
import { createSettlementJournal } from './settlementJournal.js'
import { createSettlementOverview, createSponsoringHistory } from './settlementOverview.js'

type JournalStores = Pick<
  Stores,
  | 'journal'
  | 'confirmedBlocks'
  | 'broadcastRetention'
  | 'overview'
  | 'accountSettlements'
  | 'sponsoringHistory'
  | 'quotas'
  | 'views'
>

/** The settlements, and what is read or counted of them. */
export const openJournal = ({ pool, reads, instance }: Database): JournalStores => ({
  journal: mapDatabaseErrors(createSettlementJournal(pool, instance)),
  confirmedBlocks: mapDatabaseErrors(createConfirmedBlocks(pool)),
  broadcastRetention: mapDatabaseErrors(createBroadcastRetention(pool)),
  overview: mapDatabaseErrors(createSettlementOverview(reads)),
  accountSettlements: mapDatabaseErrors(createAccountSettlements(reads)),
  sponsoringHistory: mapDatabaseErrors(createSponsoringHistory(pool)),
  quotas: mapDatabaseErrors(createQuotas(pool)),
  views: {
    quotas: mapDatabaseErrors(createQuotas(reads)),
    journal: mapDatabaseErrors(createSettlementJournal(reads, instance)),
  },
})
