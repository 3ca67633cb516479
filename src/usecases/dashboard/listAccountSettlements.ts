import { AppError } from '../../errors.js'
import type { AccountSettlements } from '../../ports/accountSettlements.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { viewSettlement } from '../core/viewSettlement.js'
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
    const found = await settlements.list({
      ...rest,
      accountId,
      network: network === undefined ? undefined : canonicalNetwork(network),
      after: cursor,
      limit: limit + 1,
    })
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    return {
      settlements: shown.map(({ settlement, fee }) => ({ ...viewSettlement(settlement), fee })),
      ...(found.length > limit && last !== undefined ? { nextCursor: last.settlement.id } : {}),
    }
  }
