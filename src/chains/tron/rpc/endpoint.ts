import { z } from 'zod'
import { type Endpoint, RpcRefusal } from '../../nodes/endpoint.js'
import { createPathEndpoint } from '../../nodes/pathEndpoint.js'
import type { TronNetworkSettings } from '../settings.js'

const failure = z.object({ Error: z.string() })

// Of a node's words only so many are of use.
const maxWords = 200

/** The network's nodes. TRON's answer their own failures with HTTP 200 and an `Error`: here they are refusals. */
export const createTronEndpoints = (
  { rpcUrls, apiKey }: Pick<TronNetworkSettings, 'rpcUrls' | 'apiKey'>,
  timeoutMs: number,
): readonly Endpoint[] =>
  rpcUrls.map((url) => {
    const endpoint = createPathEndpoint(url, timeoutMs, apiKey === null ? {} : { 'TRON-PRO-API-KEY': apiKey })
    return {
      host: endpoint.host,
      request: async (path, body, schema) => {
        const answer = await endpoint.request(path, body, z.unknown())
        const failed = failure.safeParse(answer)
        if (failed.success) throw new RpcRefusal(0, failed.data.Error.slice(0, maxWords))
        return schema.parse(answer)
      },
    }
  })
