import type { Logger } from '../../ports/logger.js'
import { withShortDeadline } from './settlementContext.js'

/** Failures are logged only: what was done under the key is recorded, and a key that was not ended is taken over. */
export const createSaveKeyState =
  (logger: Logger) =>
  async (work: Promise<void>): Promise<void> => {
    try {
      await withShortDeadline(work)
    } catch (error) {
      logger.error({ error }, 'idempotency.write_failed')
    }
  }
