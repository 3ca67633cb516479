import { z } from 'zod'
import { type Endpoint, RpcError } from '../../nodes/endpoint.js'
import { createPathEndpoint } from '../../nodes/pathEndpoint.js'
import type { TronNetworkSettings } from '../settings.js'

const failure = z.object({ Error: z.string() })

const maxErrorLength = 200

/** TRON nodes report errors with HTTP 200 and an `Error` field; this turns them into `RpcError`. */
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
        if (failed.success) throw new RpcError(0, failed.data.Error.slice(0, maxErrorLength))
        return schema.parse(answer)
      },
    }
  })
