import { describeWebhookOutbox } from '../contracts/webhookOutboxContract.js'
import { createManualClock } from '../support/manualClock.js'
import { createMemoryOutbox } from '../support/memoryOutbox.js'

describeWebhookOutbox('the in-memory outbox', async () => {
  const clock = createManualClock()
  const outbox = createMemoryOutbox(clock)
  return {
    outbox,
    write: async (accountId) => outbox.write(accountId).id,
    pass: async (milliseconds) => clock.advance(milliseconds),
    close: async () => undefined,
  }
})
