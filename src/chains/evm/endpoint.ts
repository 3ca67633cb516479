import { createClient, type Hex, http, RpcRequestError } from 'viem'
import { z } from 'zod'
import type { Secret } from '../../platform/secret.js'

/** One JSON-RPC endpoint. Throws `RpcRefusal` when the node answered with an error, anything else when it did not answer. */
export interface Endpoint {
  /** Host name only: the rest of the URL may hold a key. */
  readonly host: string
  request<Schema extends z.ZodType>(method: string, params: unknown, schema: Schema): Promise<z.infer<Schema>>
}

/** A node's own error answer: it was reached and it said no. */
export class RpcRefusal extends Error {
  readonly code: number
  readonly data: Hex | null

  constructor(code: number, message: string, data: Hex | null) {
    super(message)
    this.name = 'RpcRefusal'
    this.code = code
    this.data = data
  }
}

/** Connects to one endpoint; requests of the same moment travel in one JSON-RPC batch. */
export const createEndpoint = (url: Secret, timeoutMs: number): Endpoint => {
  const client = createClient({
    transport: http(url.reveal(), { timeout: timeoutMs, retryCount: 0, batch: { batchSize: 100 } }),
  })
  return {
    host: new URL(url.reveal()).host,
    request: async (method, params, schema) => {
      try {
        return schema.parse(await client.transport.request({ method, params }))
      } catch (error) {
        throw readRefusal(error) ?? error
      }
    },
  }
}

const hexData = z.string().regex(/^0x[0-9a-fA-F]*$/)

/** viem wraps the node's answer in classes of its own; the answer is somewhere down the causes. */
const readRefusal = (error: unknown): RpcRefusal | null => {
  let cause = error
  for (let depth = 0; depth < 8 && cause instanceof Error; depth++) {
    if (cause instanceof RpcRequestError) {
      return new RpcRefusal(cause.code, cause.details, readRevertData(cause.data))
    }
    cause = cause.cause
  }
  return null
}

/** Revert data stands in `data` itself, or in `data.data`, depending on the node. */
const readRevertData = (data: unknown): Hex | null => {
  const nested = z
    .union([hexData, z.object({ data: hexData }).transform((inner) => inner.data)])
    .safeParse(data)
  return nested.success ? `0x${nested.data.slice(2)}` : null
}
