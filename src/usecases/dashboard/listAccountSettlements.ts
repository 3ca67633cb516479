import { AppError } from '../../errors.js'
import type { AccountSettlements } from '../../ports/accountSettlements.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { viewSettlement } from '../core/viewSettlement.js'
import { readPage } from '../readPage.js'
import type { DashboardUseCases } from './useCases.js'

export interface ListAccountSettlementsDependencies {
  readonly settlements: AccountSettlements
  readonly journal: Pick<SettlementJournal, 'find'>
}

export const createListAccountSettlements =
  ({ settlements, journal }: ListAccountSettlementsDependencies): DashboardUseCases['listSettlements'] =>
  async ({ id: accountId }, { cursor, network, limit, ...rest }) => {
    // Same error for unknown and foreign cursors, so that existence does not leak.
    if (cursor !== undefined && (await journal.find(cursor))?.caller !== accountId) {
      throw new AppError('INVALID_REQUEST', 'cursor: must be the nextCursor of an earlier response')
    }
    const query = {
      ...rest,
      accountId,
      network: network === undefined ? undefined : canonicalNetwork(network),
      after: cursor,
    }
    const { items, next } = await readPage(
      limit,
      (count) => settlements.list({ ...query, limit: count }),
      ({ settlement }) => settlement.id,
    )
    return {
      settlements: items.map(({ settlement, fee }) => ({ ...viewSettlement(settlement), fee })),
      ...next,
    }
  }
