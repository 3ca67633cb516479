import { AppError } from '../../errors.js'
import { getEndpoint, type WebhookDependencies } from './dependencies.js'
import type { WebhookUseCases } from './useCases.js'
import { viewDelivery } from './viewDelivery.js'

/** Makes a delivery due at once, under the event's own id and with all attempts before it. */
export const createRedeliver =
  ({ outbox }: Pick<WebhookDependencies, 'outbox'>): WebhookUseCases['redeliver'] =>
  async (account, deliveryId) => {
    await getEndpoint(outbox, account)
    const delivery = await outbox.redeliver(account.id, deliveryId)
    if (delivery === null) throw new AppError('NOT_FOUND', 'There is no such delivery')
    return viewDelivery(delivery)
  }
