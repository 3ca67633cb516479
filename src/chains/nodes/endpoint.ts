import type { z } from 'zod'

/** Rejects with `RpcError` for an error response, with any other error without a valid response. */
export interface Endpoint {
  /** Host name only: the rest of the URL may hold a key. */
  readonly host: string
  /** `method` is a JSON-RPC method, or a path below the URL. */
  request<Schema extends z.ZodType>(method: string, params: unknown, schema: Schema): Promise<z.infer<Schema>>
}

/** An error response of a node: it was reached and refused the request. */
export class RpcError extends Error {
  readonly code: number
  /** Additional error data; the format depends on the chain. */
  readonly data: unknown
  /** Name of the cause, on chains that give one, such as `UNKNOWN_TRANSACTION`. */
  readonly causeName: string | null

  constructor(code: number, message: string, data: unknown = null, causeName: string | null = null) {
    super(message)
    this.name = 'RpcError'
    this.code = code
    this.data = data
    this.causeName = causeName
  }
}
