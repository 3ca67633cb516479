import type { AuditEntry, Sealer } from '../../../src/ports/accountStore.js'
import type { WebhookMessage, WebhookResponse, WebhookTransport } from '../../../src/ports/webhookOutbox.js'
import { createMemoryRateLimiter } from '../../../src/stores/cache/rateLimiter.js'
import type { KeyHolder } from '../../../src/usecases/dashboard/useCases.js'
import type { DeliverWebhooksDependencies } from '../../../src/usecases/webhooks/deliverWebhooks.js'
import { createWebhooks } from '../../../src/usecases/webhooks/index.js'
import { apiKeyOf } from '../../support/apiKeyOf.js'
import { createManualClock } from '../../support/manualClock.js'
import { createMemoryLogger } from '../../support/memoryLogger.js'
import { createMemoryOutbox } from '../../support/memoryOutbox.js'

export const accountOf = (id: string): KeyHolder => ({
  id,
  email: `${id}@shop.example`,
  project: 'shop',
  tier: 'free',
  status: 'active',
  createdAt: new Date('2026-01-01T00:00:00Z'),
  allowedIPs: null,
  allowedRef: null,
  customer: id,
  isProven: true,
  key: apiKeyOf(),
})

/** Reverses the text, so that sealed and plain text differ. */
export const turningSealer: Pick<Sealer, 'seal' | 'open'> = {
  seal: (text) => Buffer.from([...text].toReversed().join('')),
  open: (bytes) => [...Buffer.from(bytes).toString()].toReversed().join(''),
}

/** Records messages and returns the configured responses. */
const createFakeTransport = () => {
  const sent: WebhookMessage[] = []
  let choose: (message: WebhookMessage, stopped: AbortSignal) => WebhookResponse | Promise<WebhookResponse> =
    () => ({
      status: 204,
      error: null,
    })
  const transport: WebhookTransport = {
    findUrlProblem: (url) => (url.startsWith('https://') ? null : 'must begin with https://'),
    post: async (message, stopped) => {
      sent.push(message)
      return await choose(message, stopped)
    },
  }
  return {
    transport,
    sent,
    answer: (given: typeof choose) => {
      choose = given
    },
  }
}

/** The clock starts now, because signature timestamps are checked against it. */
export const createWebhookWorld = (
  given: Partial<DeliverWebhooksDependencies & { readonly sealer: Pick<Sealer, 'seal' | 'open'> }> = {},
) => {
  const clock = createManualClock(new Date())
  const outbox = createMemoryOutbox(clock)
  const logger = createMemoryLogger()
  const { sealer = turningSealer } = given
  const { transport, sent, answer } = createFakeTransport()
  const counted: string[] = []
  const audited: Omit<AuditEntry, 'id' | 'createdAt'>[] = []
  const mailed: string[] = []
  const counter = { countWebhook: (outcome: string) => void counted.push(outcome) }
  const { useCases: verbs, jobs } = createWebhooks({
    outbox,
    feed: { read: async () => [], skip: async () => ({ position: 0n, isEnd: true }) },
    transport,
    clock,
    counter,
    logger,
    limiter: createMemoryRateLimiter({ clock }),
    pollMs: 5,
    // The middle: no jitter.
    random: () => 0.5,
    ...given,
    sealer,
    audit: { record: async (entry) => void audited.push(entry) },
    mailChange: (_account, action) => void mailed.push(action),
  })
  const stopping = new AbortController()
  return {
    clock,
    outbox,
    logger,
    sent,
    answer,
    counted,
    audited,
    mailed,
    verbs,
    stopping,
    deliver: () => jobs.deliverWebhooks.run(stopping.signal),
    /** Sets a webhook; returns its secret. */
    set: async (id: string, url = `https://${id}.example/hook`): Promise<string> =>
      (await verbs.setWebhook(accountOf(id), url)).secret ?? '',
  }
}
