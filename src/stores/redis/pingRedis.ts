import { silentLogger } from '../../platform/logger.js'
import type { Secret } from '../../platform/secret.js'
import { openRedis } from './client.js'

/** Connects, writes and disconnects, within about 2 s. Rejects if Redis does not take the write. */
export const pingRedis = async (url: Secret): Promise<void> => {
  const redis = await openRedis(url.reveal(), { logger: silentLogger })
  try {
    await redis.set('quittance:probe', '', 'PX', 1)
  } finally {
    redis.disconnect()
  }
}
