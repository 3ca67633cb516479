import { AppError } from '../../errors.js'
import type { Clock } from '../../ports/clock.js'
import type { Settlement, SettlementJournal } from '../../ports/settlementJournal.js'
import type { SettlementOverview } from '../../ports/settlementOverview.js'
import { canonicalNetwork } from '../../protocol/network.js'
import type { OperatorSettlementView } from '../../protocol/results.js'
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
    const found = await overview.list({
      ...rest,
      network: network === undefined ? undefined : canonicalNetwork(network),
      after: cursor,
      limit: limit + 1,
    })
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    const now = clock.now()
    return {
      settlements: shown.map((settlement) => viewForOperator(settlement, now)),
      ...(found.length > limit && last !== undefined ? { nextCursor: last.id } : {}),
    }
  }

const viewForOperator = (settlement: Settlement, now: Date): OperatorSettlementView => ({
  ...viewSettlement(settlement),
  caller: settlement.caller,
  ageSeconds: Math.max(0, Math.floor((now.getTime() - settlement.createdAt.getTime()) / 1_000)),
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
