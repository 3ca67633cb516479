import type { ReceivedEvent } from './account.js'
import { readAccountSettlements } from './ledger.js'
import type { World } from './world.js'

/** What the webhook did not receive, or could not read, when no event is waiting any more. */
export const checkEvents = async ({ pool, account }: World): Promise<readonly string[]> => {
  const settlements = await readAccountSettlements(pool)
  const received = new Set(account.events.map(nameEvent))
  const missing = settlements
    .map(({ id, state, transaction }) =>
      nameEvent({ type: `settlement.${state}`, settlementId: id, transaction: transaction ?? '' }),
    )
    .filter((event) => !received.has(event))
  return [
    ...(settlements.length === 0 ? ['No settlement was made with the API key'] : []),
    ...missing.map((event) => `The webhook did not receive ${event}`),
    ...account.unreadable.map((message) => `The webhook could not read ${message}`),
  ]
}

const nameEvent = ({ type, settlementId, transaction }: ReceivedEvent): string =>
  `${type} of ${settlementId} by ${transaction}`
