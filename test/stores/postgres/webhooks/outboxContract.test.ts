import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll } from 'vitest'
import { createWebhookOutbox } from '../../../../src/stores/postgres/webhooks/webhookOutbox.js'
import { describeWebhookOutbox } from '../../../contracts/webhookOutboxContract.js'
import { createTestDatabase, type TestDatabase } from '../../../support/postgres.js'

let database: TestDatabase
beforeAll(async () => {
  database = await createTestDatabase()
})
afterAll(() => database.drop())

describeWebhookOutbox('the outbox in Postgres', async () => {
  const pool = database.pool()
  await pool.query('truncate webhook_endpoints, webhook_deliveries')
  return {
    outbox: createWebhookOutbox(pool),
    write: async (accountId) => {
      const id = randomUUID()
      await pool.query(
        "insert into webhook_deliveries (id, account_id, type, data) values ($1, $2, 'settlement.confirmed', '{}')",
        [id, accountId],
      )
      return id
    },
    // The database's clock cannot be moved, so the stored times are moved back instead.
    pass: async (milliseconds) => {
      const interval = `${milliseconds} milliseconds`
      await pool.query('update webhook_deliveries set due_at = due_at - $1::interval', [interval])
      await pool.query('update webhook_endpoints set previous_until = previous_until - $1::interval', [
        interval,
      ])
    },
    close: async () => undefined,
  }
})
