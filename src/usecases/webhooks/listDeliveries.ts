import type { WebhookDependencies } from './dependencies.js'
import type { WebhookUseCases } from './useCases.js'
import { viewDelivery } from './viewDelivery.js'

/** Newest first. Another account's cursor gives an empty page. */
export const createListDeliveries =
  ({ outbox }: Pick<WebhookDependencies, 'outbox'>): WebhookUseCases['listDeliveries'] =>
  async (account, { limit, cursor, status }) => {
    const found = await outbox.list(account.id, { limit: limit + 1, before: cursor, state: status })
    const shown = found.slice(0, limit)
    const last = shown.at(-1)
    return {
      deliveries: shown.map(viewDelivery),
      ...(found.length > limit && last !== undefined ? { nextCursor: last.id } : {}),
    }
  }
