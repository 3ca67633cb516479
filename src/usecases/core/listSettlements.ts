import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettlementOverview } from '../../ports/settlementOverview.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { OperatorSettlementView } from '../../protocol/results.js'
import { readPage } from '../readPage.js'
import type { CoreUseCases } from './useCases.js'
import { viewSettlement } from './viewSettlement.js'

export interface ListSettlementsDependencies {
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
  ...viewSettlement(settlement),
  caller: settlement.caller,
  ageSeconds: Math.max(0, Math.floor((now.getTime() - settlement.createdAt.getTime()) / 1_000)),
  isOwned: settlement.isOwned,
  isConsumed: settlement.consumedBy !== null,
  // Until version 0.2: the earlier names of the two.
  isAttended: settlement.isOwned,
  hasToldSuccess: settlement.consumedBy !== null,
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
