import type { EndpointHealth } from './endpointHealth.js'
import type { EndpointPool } from './endpointPool.js'

/**
 * Sends to every reachable endpoint. Resolves with the first response that is sufficient, while the others
 * continue in the background; otherwise with all responses. `send` must not reject.
 */
export const broadcastToAll = async <Response>(
  pool: EndpointPool,
  send: (endpoint: EndpointHealth) => Promise<Response>,
  isSufficient: (response: Response) => boolean,
): Promise<readonly Response[]> => {
  const endpoints = await pool.findReceivers()
  const responses = endpoints.map(send)
  const first = responses.map(async (pending) => {
    const response = await pending
    if (!isSufficient(response)) throw new Error('Not sufficient')
    return response
  })
  try {
    return [await Promise.any(first)]
  } catch {
    return await Promise.all(responses)
  }
}
