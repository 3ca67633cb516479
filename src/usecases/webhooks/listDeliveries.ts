import { readPage } from '../readPage.js'
import type { WebhookDependencies } from './dependencies.js'
import type { WebhookUseCases } from './useCases.js'
import { viewDelivery } from './viewDelivery.js'

/** Newest first. Another account's cursor gives an empty page. */
export const createListDeliveries =
  ({ outbox }: Pick<WebhookDependencies, 'outbox'>): WebhookUseCases['listDeliveries'] =>
  async (account, { limit, cursor, status }) => {
    const { items, next } = await readPage(
      limit,
      (count) => outbox.list(account.id, { limit: count, before: cursor, state: status }),
      ({ id }) => id,
    )
    return { deliveries: items.map(viewDelivery), ...next }
  }
