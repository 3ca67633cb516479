import type { Hex } from 'viem'
import { z } from 'zod'
import { createFailureLog } from '../../../failureLog.js'
import type { Logger } from '../../../ports/logger.js'
import { broadcastToAll } from '../../nodes/broadcastToAll.js'
import { RpcError } from '../../nodes/endpoint.js'
import type { EndpointHealth, HealthTime } from '../../nodes/endpointHealth.js'
import type { EndpointPool } from '../../nodes/endpointPool.js'
import { readRateLimit } from '../../nodes/readRateLimit.js'
import { combineSendAnswers, readSendAnswer, type SendAnswer } from './sendAnswer.js'

export const createBroadcast = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): ((bytes: Hex) => Promise<SendAnswer>) => {
  const refusals = createFailureLog({
    logger,
    event: 'rpc.send_refused',
    recovered: null,
    now: time.monotonicMs,
  })

  const sendTo = async (health: EndpointHealth, bytes: Hex): Promise<SendAnswer> => {
    const startedAtMs = time.monotonicMs()
    try {
      // The hash was computed from the bytes; the node's answer is ignored.
      await health.endpoint.request('eth_sendRawTransaction', [bytes], z.unknown())
      return 'entered'
    } catch (error) {
      const isBusy = readRateLimit(error) !== null
      if (isBusy) health.onFailure(startedAtMs, error)
      const answer = readSendFailure(error)
      const kind = error instanceof RpcError ? error.code : 'silent'
      if (answer !== 'entered') {
        refusals.failed(`${health.name} ${answer} ${kind}`, { network, host: health.name, answer, error })
      }
      // A send without answer says little about the endpoint: probe it.
      if (!isBusy && !(error instanceof RpcError)) void health.probe()
      return answer
    }
  }

  // One node that accepted the bytes is enough; the others receive them in the background.
  return async (bytes) => {
    const answers = await broadcastToAll(
      pool,
      (health) => sendTo(health, bytes),
      (answer) => answer === 'entered',
    )
    return combineSendAnswers(answers)
  }
}

const readSendFailure = (error: unknown): SendAnswer => {
  // A rate limit refuses before the bytes are read.
  if (readRateLimit(error) !== null) return 'refused'
  return error instanceof RpcError ? readSendAnswer(error.message) : 'unknown'
}
