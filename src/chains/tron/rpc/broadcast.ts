import type { Logger } from '../../../ports/logger.js'
import { broadcastToAll } from '../../nodes/broadcastToAll.js'
import { RpcRefusal } from '../../nodes/endpoint.js'
import type { EndpointHealth, HealthTime } from '../../nodes/endpointHealth.js'
import type { EndpointPool } from '../../nodes/endpointPool.js'
import { readRateLimit } from '../../nodes/readRateLimit.js'
import { sendShape } from './wireShapes.js'

/**
 * What nodes said to a transaction. `taken`: one of them has it. `refused`: all of them would not have it now, which
 * proves nothing of others to whom somebody else hands it. `unknown`: it may be on its way.
 */
export type SendAnswer = 'taken' | 'refused' | 'unknown'

// Everything else, such as SERVER_BUSY or NO_CONNECTION, is said by a node that may have it all the same.
const refusals = [
  'SIGERROR',
  'CONTRACT_VALIDATE_ERROR',
  'BANDWITH_ERROR',
  'TAPOS_ERROR',
  'TOO_BIG_TRANSACTION_ERROR',
  'TRANSACTION_EXPIRATION_ERROR',
]

/** Hands signed bytes to every node that can be reached; one that took them is enough. */
export const createBroadcast = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): ((bytes: string) => Promise<SendAnswer>) => {
  const sendTo = async (health: EndpointHealth, bytes: string): Promise<SendAnswer> => {
    const startedAtMs = time.monotonicMs()
    const named = { network, host: health.name }
    try {
      // The answered id is not believed: ours was computed from the bytes.
      const answer = await health.endpoint.request('/wallet/broadcasthex', { transaction: bytes }, sendShape)
      if (answer.result || answer.code === 'DUP_TRANSACTION_ERROR') return 'taken'
      logger.warn({ ...named, code: answer.code, message: answer.message }, 'rpc.send_refused')
      return refusals.includes(answer.code) ? 'refused' : 'unknown'
    } catch (error) {
      const isBusy = readRateLimit(error) !== null
      if (isBusy) health.onFailure(startedAtMs, error)
      logger.warn({ ...named, error }, 'rpc.send_timed_out')
      // Silence to a send says little of the node: let it prove that it is there.
      if (!isBusy && !(error instanceof RpcRefusal)) void health.probe()
      return isBusy ? 'refused' : 'unknown'
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
