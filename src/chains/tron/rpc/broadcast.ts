import { createFailureLog } from '../../../failureLog.js'
import type { Logger } from '../../../ports/logger.js'
import { broadcastToAll } from '../../nodes/broadcastToAll.js'
import { RpcError } from '../../nodes/endpoint.js'
import type { EndpointHealth, HealthTime } from '../../nodes/endpointHealth.js'
import type { EndpointPool } from '../../nodes/endpointPool.js'
import { readRateLimit } from '../../nodes/readRateLimit.js'
import { sendShape } from './wireShapes.js'

/**
 * `taken`: at least one node accepted. `refused`: all refused now, which does not prove that the transaction
 * cannot land. `unknown`: it may be in flight.
 */
export type SendAnswer = 'taken' | 'refused' | 'unknown'

// With any other code, such as SERVER_BUSY, the node may have accepted the transaction.
const refusals = [
  'SIGERROR',
  'CONTRACT_VALIDATE_ERROR',
  'BANDWITH_ERROR',
  'TAPOS_ERROR',
  'TOO_BIG_TRANSACTION_ERROR',
  'TRANSACTION_EXPIRATION_ERROR',
]

export const createBroadcast = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): ((bytes: string) => Promise<SendAnswer>) => {
  const timeouts = createFailureLog({
    logger,
    event: 'rpc.send_failed',
    recovered: null,
    now: time.monotonicMs,
  })

  const sendTo = async (health: EndpointHealth, bytes: string): Promise<SendAnswer> => {
    const startedAtMs = time.monotonicMs()
    const logFields = { network, host: health.name }
    try {
      // The returned id is ignored: ours is computed from the bytes.
      const answer = await health.endpoint.request('/wallet/broadcasthex', { transaction: bytes }, sendShape)
      if (answer.result || answer.code === 'DUP_TRANSACTION_ERROR') return 'taken'
      logger.warn({ ...logFields, code: answer.code, message: answer.message }, 'rpc.send_refused')
      return refusals.includes(answer.code) ? 'refused' : 'unknown'
    } catch (error) {
      const isRateLimited = readRateLimit(error) !== null
      if (isRateLimited) health.onFailure(startedAtMs, error)
      timeouts.failed(health.name, { ...logFields, error })
      // A lost broadcast response does not prove that the node is down: probe it.
      if (!isRateLimited && !(error instanceof RpcError)) void health.probe()
      return isRateLimited ? 'refused' : 'unknown'
    }
  }

  return async (bytes) => {
    const answers = await broadcastToAll(
      pool,
      (health) => sendTo(health, bytes),
      (answer) => answer === 'taken',
    )
    if (answers.includes('taken')) return 'taken'
    return answers.every((answer) => answer === 'refused') ? 'refused' : 'unknown'
  }
}
