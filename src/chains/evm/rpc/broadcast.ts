import type { Hex } from 'viem'
import { z } from 'zod'
import type { Logger } from '../../../ports/logger.js'
import { readBusyAnswer } from './busyAnswer.js'
import { RpcRefusal } from './endpoint.js'
import type { EndpointHealth, HealthTime } from './endpointHealth.js'
import type { EndpointPool } from './endpointPool.js'
import { readSendAnswer, type SendAnswer, weighSendAnswers } from './sendAnswer.js'

/** Hands signed bytes to every endpoint that can be reached; the best of their answers counts. */
export const createBroadcast = (
  pool: EndpointPool,
  { network, logger, time }: { readonly network: string; readonly logger: Logger; readonly time: HealthTime },
): ((bytes: Hex) => Promise<SendAnswer>) => {
  const sendTo = async (health: EndpointHealth, bytes: Hex): Promise<SendAnswer> => {
    const startedAtMs = time.monotonicMs()
    try {
      // The answered hash is not believed: ours was computed from the bytes.
      await health.endpoint.request('eth_sendRawTransaction', [bytes], z.unknown())
      return 'entered'
    } catch (error) {
      const isBusy = readBusyAnswer(error) !== null
      if (isBusy) health.noteFailure(startedAtMs, error)
      const answer = readSendFailure(error)
      if (answer !== 'entered') logger.warn({ network, host: health.name, answer, error }, 'rpc.send_refused')
      // Silence to a send says little of the endpoint: let it prove that it is there.
      if (!isBusy && !(error instanceof RpcRefusal)) void health.probe()
      return answer
    }
  }

  return async (bytes) => {
    const receivers = await pool.findReceivers()
    const answers = receivers.map((health) => sendTo(health, bytes))
    // One node that took the bytes is enough to go on; the others are told in the background.
    if (await hasEntered(answers)) return 'entered'
    return weighSendAnswers(await Promise.all(answers))
  }
}

const hasEntered = async (answers: readonly Promise<SendAnswer>[]): Promise<boolean> => {
  const entries = answers.map(async (answer) => {
    if ((await answer) !== 'entered') throw new Error('It did not enter')
  })
  try {
    await Promise.any(entries)
    return true
  } catch {
    return false
  }
}

const readSendFailure = (error: unknown): SendAnswer => {
  // It was turned away before anybody read it.
  if (readBusyAnswer(error) !== null) return 'refused'
  return error instanceof RpcRefusal ? readSendAnswer(error.message) : 'unknown'
}
