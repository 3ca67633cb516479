import { z } from 'zod'
import { Secret } from '../../platform/secret.js'
import type { Endpoint } from '../nodes/endpoint.js'
import type { Proof } from '../nodes/endpointHealth.js'
import { createPathEndpoint } from '../nodes/pathEndpoint.js'
import { createOctezSource } from './octez.js'
import { balanceQuery, headShape, operationQuery, type Source, tokenQuery } from './source.js'
import { createTzktSource } from './tzkt.js'

const requestShape = z.discriminatedUnion('method', [
  z.object({ method: z.literal('head') }),
  z.object({ method: z.literal('operation'), params: operationQuery }),
  z.object({ method: z.literal('token'), params: tokenQuery }),
  z.object({ method: z.literal('balance'), params: balanceQuery }),
])

const createEndpoint = (host: string, source: Source): Endpoint => ({
  host,
  request: async (method, params, schema) => {
    const request = requestShape.parse({ method, params })
    switch (request.method) {
      case 'head':
        return schema.parse(await source.getHead())
      case 'operation':
        return schema.parse(await source.findOperation(request.params))
      case 'token':
        return schema.parse(await source.hasToken(request.params))
      case 'balance':
        return schema.parse(await source.readBalance(request.params))
    }
  },
})

export const createOctezEndpoint = (url: Secret, chainId: string, timeoutMs: number): Endpoint => {
  const rest = createPathEndpoint(url, timeoutMs)
  return createEndpoint(
    rest.host,
    createOctezSource((path, shape, body = null) => rest.request(path, body, shape), chainId),
  )
}

/** The URL may end in /v1 or in the path before it. */
export const createTzktEndpoint = (url: Secret, chainId: string, timeoutMs: number): Endpoint => {
  const parsed = new URL(url.reveal())
  const base = parsed.pathname.replace(/\/$/, '')
  parsed.pathname = base.endsWith('/v1') ? base : `${base}/v1`
  const rest = createPathEndpoint(new Secret(parsed.href), timeoutMs)
  return createEndpoint(
    rest.host,
    createTzktSource((path, shape) => rest.request(path, null, shape), chainId),
  )
}

export const proveChain = async (endpoint: Endpoint): Promise<Proof> => {
  const { chainId, level, time } = await endpoint.request('head', null, headShape)
  return { chain: chainId, head: { number: BigInt(level), timestamp: time.getTime() / 1_000 } }
}
