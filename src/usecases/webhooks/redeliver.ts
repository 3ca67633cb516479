import { AppError } from '../../errors.js'
import { getEndpoint, type WebhookDependencies } from './dependencies.js'
import type { WebhookUseCases } from './useCases.js'
import { viewDelivery } from './viewDelivery.js'

export const createRedeliver =
  ({ outbox }: Pick<WebhookDependencies, 'outbox'>): WebhookUseCases['redeliver'] =>
  async (account, deliveryId) => {
    await getEndpoint(outbox, account)
    const delivery = await outbox.redeliver(account.id, deliveryId)
    if (delivery === null) throw new AppError('NOT_FOUND', 'Delivery not found')
    return viewDelivery(delivery)
  }
