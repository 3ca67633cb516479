import { AppError } from '../../errors.js'
import type { AccountSettlements } from '../../ports/accountSettlements.js'
import type { SettlementJournal } from '../../ports/settlementJournal.js'
import { canonicalNetwork } from '../../protocol/network.js'
import { viewSettlement } from '../core/viewSettlement.js'
import type { DashboardUseCases } from './useCases.js'

/** What listing an account's settlements needs. */
export interface ListAccountSettlementsDependencies {
  readonly settlements: AccountSettlements
  readonly journal: Pick<SettlementJournal, 'find'>
}

/** Shows accounts their own settlements and nobody else's, the newest first. */
export const createListAccountSettlements =
  ({ settlements, journal }: ListAccountSettlementsDependencies): DashboardUseCases['listSettlements'] =>
  async ({ id: accountId }, { cursor, network, limit, ...rest }) => {
    // One answer for what is another's and for what is not at all: neither is told apart.
    if (cursor !== undefined && (await journal.find(cursor))?.caller !== accountId) {
      throw new AppError('INVALID_REQUEST', 'cursor: must be the nextCursor of an earlier answer')
    }
    // One more than is shown tells whether there is another page.
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
