import { AppError } from '../../../errors.js'
import type { Clock } from '../../../ports/clock.js'
import type { Settlement, SettlementJournal } from '../../../ports/settlementJournal.js'
import type { SettlementOverview } from '../../../ports/settlementOverview.js'
import { canonicalNetwork } from '../../../protocol/network.js'
import {
  type OperatorSettlementView,
  refusalFields,
  type SettlementDetails,
  type SettlementView,
} from '../../../protocol/results.js'
import { hasSharedOutcome } from '../../../schemes/sharedOutcome.js'
import { readPage } from '../../readPage.js'
import type { CoreUseCases } from '../useCases.js'

interface ListSettlementsDependencies {
  readonly overview: SettlementOverview
  readonly journal: SettlementJournal
  readonly clock: Clock
}

export const createListSettlements =
  ({ overview, journal, clock }: ListSettlementsDependencies): CoreUseCases['listSettlements'] =>
  async ({ cursor, network, limit, ...rest }) => {
    if (cursor !== undefined && (await journal.find(cursor)) === null) {
      throw new AppError('INVALID_REQUEST', 'cursor: must be the nextCursor of an earlier response')
    }
    const query = {
      ...rest,
      network: network === undefined ? undefined : canonicalNetwork(network),
      after: cursor,
    }
    const { items, next } = await readPage(
      limit,
      (count) => overview.list({ ...query, limit: count }),
      ({ id }) => id,
    )
    const now = clock.now()
    return { settlements: items.map((settlement) => viewForOperator(settlement, now)), ...next }
  }

const viewForOperator = (settlement: Settlement, now: Date): OperatorSettlementView => ({
  ...viewDetails(settlement),
  caller: settlement.caller,
  ageSeconds: Math.max(0, Math.floor((now.getTime() - settlement.createdAt.getTime()) / 1_000)),
  isOwned: settlement.isOwned,
  isConsumed: settlement.consumedBy !== null,
  // Until version 0.2: the earlier names of the two.
  isAttended: settlement.isOwned,
  hasToldSuccess: settlement.consumedBy !== null,
})

const viewDetails = (settlement: Settlement): SettlementDetails => ({
  ...viewSettlement(settlement),
  transactions: settlement.broadcasts.map(({ transaction }) => transaction),
  ...(settlement.block === null
    ? {}
    : {
        block: {
          number: settlement.block.number.toString(),
          hash: settlement.block.hash,
          isFinal: settlement.isFinal,
        },
      }),
})

export const createGetSettlement = (
  journal: SettlementJournal,
): Pick<CoreUseCases, 'getSettlement' | 'getSettlementByTransaction'> => ({
  getSettlement: async (id) => {
    const found = await journal.find(id)
    if (found === null) throw notFound()
    return viewDetails(found)
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

export const viewSettlement = (settlement: Settlement): SettlementView => {
  const amount = settlement.settledAmount ?? settlement.amount
  const maximum = settlement.authorizedAmount
  const refusal = settlement.reason === null ? null : refusalFields(settlement.reason)
  return {
    id: settlement.id,
    // Clients do not see the difference between claimed and pending.
    status: settlement.state === 'claimed' ? 'pending' : settlement.state,
    scheme: settlement.scheme,
    network: settlement.network,
    asset: settlement.asset,
    payer: settlement.payer,
    payTo: settlement.payTo,
    amount: amount.toString(),
    // A sweep pays what is claimed until it is mined, which no authorization bounds.
    ...(maximum === amount || hasSharedOutcome(settlement) ? {} : { maxAmount: maximum.toString() }),
    transaction: settlement.transaction ?? '',
    ...(refusal === null ? {} : { errorReason: refusal.reason, errorMessage: refusal.message }),
    createdAt: settlement.createdAt.toISOString(),
    ...(settlement.closedAt === null ? {} : { closedAt: settlement.closedAt.toISOString() }),
  }
}
