import { AppError } from '../../errors.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { CoreUseCases } from './useCases.js'
import { viewSettlement } from './viewSettlement.js'

export const createGetSettlement = (
  journal: SettlementJournal,
): Pick<CoreUseCases, 'getSettlement' | 'getSettlementByTransaction'> => ({
  getSettlement: async (id) => {
    const found = await journal.find(id)
    if (found === null) throw notFound()
    return viewSettlement(found)
  },
  getSettlementByTransaction: async ({ network, transaction, payer }) => {
    const carried = await journal.listByTransaction(canonicalNetwork(network), foldHash(transaction))
    const [first, ...others] = carried.filter((settlement) => isPayer(settlement, payer)).map(viewSettlement)
    if (first === undefined) throw notFound()
    return others.length === 0 ? first : { ...first, others }
  },
})

/** Families store 32-byte hashes in lower-case hex. Solana's base58 signatures are longer, and case-sensitive. */
const foldHash = (transaction: string): string =>
  /^(0x)?[0-9a-f]{64}$/i.test(transaction) ? transaction.toLowerCase() : transaction

const notFound = (): AppError => new AppError('NOT_FOUND', 'Settlement not found')

// Case-insensitive for all families: two payers that differ only in case do not occur.
const isPayer = (settlement: Settlement, payer: string | undefined): boolean =>
  payer === undefined || settlement.payer.toLowerCase() === payer.toLowerCase()
