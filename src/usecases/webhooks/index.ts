import type { Job } from '../../ports/job.js'
import { createDeliverWebhooks, type DeliverWebhooksDependencies } from './deliverWebhooks.js'
import type { WebhookDependencies } from './dependencies.js'
import { createListDeliveries } from './listDeliveries.js'
import { createRedeliver } from './redeliver.js'
import { createRotateSecret } from './rotateSecret.js'
import { createSendWebhook } from './sendWebhook.js'
import { createSetWebhook } from './setWebhook.js'
import { createTestWebhook } from './testWebhook.js'
import type { WebhookUseCases } from './useCases.js'

/** What the noun `webhooks` is made of. */
export interface WebhooksDependencies
  extends Omit<WebhookDependencies, 'sendWebhook'>,
    Omit<DeliverWebhooksDependencies, 'sendWebhook'> {}

/** The noun `webhooks`: where accounts want their events, and how they get there. */
export interface Webhooks {
  readonly useCases: WebhookUseCases
  readonly jobs: Readonly<Record<'deliverWebhooks' | 'purgeWebhookDeliveries', Job>>
}

/** Assembles the noun `webhooks`. */
export const createWebhooks = (dependencies: WebhooksDependencies): Webhooks => {
  const sendWebhook = createSendWebhook(dependencies)
  const needed = { ...dependencies, sendWebhook }
  return {
    useCases: {
      setWebhook: createSetWebhook(needed),
      testWebhook: createTestWebhook(needed),
      rotateSecret: createRotateSecret(needed),
      listDeliveries: createListDeliveries(needed),
      redeliver: createRedeliver(needed),
    },
    jobs: {
      // A poll, not NOTIFY: that takes a lock of the whole database when payments commit.
      deliverWebhooks: { everyMs: 500, run: createDeliverWebhooks(needed) },
      purgeWebhookDeliveries: { everyMs: 3_600_000, run: dependencies.outbox.purge },
    },
  }
}
