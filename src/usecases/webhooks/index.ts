import { nameLines } from '../../failureLog.js'
import type { Job } from '../../ports/job.js'
import type { WebhookUseCases } from '../useCases.js'
import {
  createListDeliveries,
  createRedeliver,
  createTestWebhook,
  type RedeliverDependencies,
} from './deliveries.js'
import { createDeliverWebhooks, type DeliverWebhooksDependencies } from './deliverWebhooks.js'
import {
  createRecordChange,
  createRotateSecret,
  createSendWebhook,
  createSetWebhook,
  type RecordChangeDependencies,
  type WebhookDependencies,
} from './endpoint.js'
import { createReadEvents, type ReadEventsDependencies } from './readEvents.js'

interface WebhooksDependencies
  extends Omit<WebhookDependencies, 'sendWebhook' | 'recordChange'>,
    RecordChangeDependencies,
    Omit<DeliverWebhooksDependencies, 'sendWebhook'>,
    Pick<ReadEventsDependencies, 'feed'>,
    Pick<RedeliverDependencies, 'limiter'> {}

interface Webhooks {
  readonly useCases: WebhookUseCases
  readonly jobs: Readonly<Record<'deliverWebhooks' | 'purgeWebhookDeliveries', Job>>
}

export const createWebhooks = (dependencies: WebhooksDependencies): Webhooks => {
  const sendWebhook = createSendWebhook(dependencies)
  const shared = { ...dependencies, sendWebhook, recordChange: createRecordChange(dependencies) }
  return {
    useCases: {
      setWebhook: createSetWebhook(shared),
      testWebhook: createTestWebhook(shared),
      rotateSecret: createRotateSecret(shared),
      listDeliveries: createListDeliveries(shared),
      redeliver: createRedeliver(shared),
      readEvents: createReadEvents(shared),
    },
    jobs: {
      // Polling instead of NOTIFY, which takes a database-wide lock at commit.
      deliverWebhooks: {
        everyMs: 500,
        isShared: true,
        needs: 'webhooks',
        run: createDeliverWebhooks({
          ...shared,
          logger: nameLines(shared.logger, { job: 'deliverWebhooks' }),
        }),
      },
      purgeWebhookDeliveries: { everyMs: 3_600_000, isShared: true, run: dependencies.outbox.purge },
    },
  }
}
