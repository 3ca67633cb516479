import type { EndpointHealth } from './endpointHealth.js'
import type { EndpointPool } from './endpointPool.js'

/**
 * Hands something to every node that can be reached. Resolves with the first answer that is enough while the
 * others are told in the background, else with all answers; rejects never, if `tell` never does.
 */
export const broadcastToAll = async <Answer>(
  pool: EndpointPool,
  tell: (node: EndpointHealth) => Promise<Answer>,
  isEnough: (answer: Answer) => boolean,
): Promise<readonly Answer[]> => {
  const receivers = await pool.findReceivers()
  const answers = receivers.map(tell)
  const first = answers.map(async (pending) => {
    const answer = await pending
    if (!isEnough(answer)) throw new Error('It is not enough')
    return answer
  })
  try {
    return [await Promise.any(first)]
  } catch {
    return await Promise.all(answers)
  }
}
