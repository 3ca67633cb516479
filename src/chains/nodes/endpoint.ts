import type { z } from 'zod'

/** One node of a network. Throws `RpcRefusal` when it answered with an error, anything else when it did not answer. */
export interface Endpoint {
  /** Host name only: the rest of the URL may hold a key. */
  readonly host: string
  /** Asks a JSON-RPC method with its parameters, or posts a JSON body to a path below the URL. */
  request<Schema extends z.ZodType>(method: string, params: unknown, schema: Schema): Promise<z.infer<Schema>>
}

/** A node's own error answer: it was reached and it said no. */
export class RpcRefusal extends Error {
  readonly code: number
  /** What the node adds to its words; every network has its own form of it. */
  readonly data: unknown

  constructor(code: number, message: string, data: unknown = null) {
    super(message)
    this.name = 'RpcRefusal'
    this.code = code
    this.data = data
  }
}
