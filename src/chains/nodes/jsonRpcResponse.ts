import { z } from 'zod'
import type { HttpResponse } from './httpClient.js'

type JsonRpcResponse =
  | { readonly result: unknown }
  | {
      readonly error: {
        readonly code: number
        readonly message: string
        readonly data: unknown
        /** Name of the cause, on chains that give one (NEAR). */
        readonly cause: string | null
      }
    }

/** Null if it is not a JSON-RPC response. */
export const readJsonRpcResponse = (response: unknown): JsonRpcResponse | null => {
  if (!isObject(response)) return null
  if ('error' in response && response.error != null) {
    const parsed = errorShape.safeParse(
      typeof response.error === 'string' ? toError(response.error, response) : response.error,
    )
    if (!parsed.success) return null
    const { code, message, data = null, cause } = parsed.data
    return { error: { code, message, data, cause } }
  }
  return 'result' in response ? { result: response.result } : null
}

/** Keyed by request id; null if it is not an array. */
export const readBatchResponses = (responses: unknown): ReadonlyMap<unknown, unknown> | null => {
  if (!Array.isArray(responses)) return null
  const list: readonly unknown[] = responses
  return new Map(list.map((each) => [isObject(each) && 'id' in each ? each.id : null, each]))
}

/** Null without valid JSON. With an error status only a JSON-RPC error counts, never a gateway's body. */
export const readJsonBody = ({ status, text }: HttpResponse): unknown => {
  const json = parseJson(text)
  if (isSuccess(status)) return json
  const response = readJsonRpcResponse(json)
  return response !== null && 'error' in response ? json : null
}

/** Null if it is not JSON. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export const isSuccess = (status: number): boolean => status >= 200 && status <= 299

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const errorShape = z.object({
  code: z.number(),
  message: z.string(),
  data: z.unknown().optional(),
  cause: z
    .object({ name: z.string() })
    .transform(({ name }) => name)
    .nullable()
    .catch(null),
})

/** Some gateways, such as toncenter, send `error` as a string with `code` beside it. */
const toError = (message: string, response: object) => ({
  code: 'code' in response ? response.code : 0,
  message,
})
