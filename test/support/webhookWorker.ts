import { systemClock } from '../../src/platform/clock.js'
import { silentLogger } from '../../src/platform/logger.js'
import { openPool } from '../../src/stores/postgres/database/pool.js'
import { createWebhookOutbox } from '../../src/stores/postgres/webhooks/webhookOutbox.js'
import { createDeliverWebhooks } from '../../src/usecases/webhooks/deliverWebhooks.js'
import { createSendWebhook } from '../../src/usecases/webhooks/endpoint.js'
import { patientPool } from './patientPool.js'
import { waitLimitMs } from './pollUntil.js'
import { createLoopbackFetch } from './webhookReceiver.js'

interface WebhookWorker {
  deliver(stopped: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** No encryption: sealing is tested elsewhere. */
export const plainSealer = {
  seal: (text: string) => Buffer.from(text),
  open: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
}

/** A busy machine ends neither an attempt, nor its lease, nor a statement: a worker ends with the statement. */
export const openWebhookWorker = (databaseUrl: string): WebhookWorker => {
  const pool = openPool({ ...patientPool, url: databaseUrl, maxConnections: 4 })
  const sendWebhook = createSendWebhook({
    transport: createLoopbackFetch(),
    sealer: plainSealer,
    clock: systemClock,
  })
  const outbox = createWebhookOutbox(pool)
  return {
    deliver: createDeliverWebhooks({
      outbox,
      sendWebhook,
      counter: { countWebhook: () => undefined },
      logger: silentLogger,
      leaseMs: 2 * waitLimitMs,
      pollMs: 20,
    }),
    close: () => pool.end(),
  }
}

// As a separate process: `webhookWorker <database>` delivers until it is killed.
if (/webhookWorker\.[jt]s$/.test(process.argv[1] ?? '')) {
  const [, , databaseUrl = ''] = process.argv
  const worker = openWebhookWorker(databaseUrl)
  for (;;) {
    await worker.deliver(new AbortController().signal)
    await systemClock.sleep(20)
  }
}
