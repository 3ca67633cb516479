import type { Hex } from 'viem'
import { z } from 'zod'
import type { HttpAnswer } from './post.js'

/** What a node answered to one request. */
export type JsonRpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data: Hex | null } }

/** Reads one answer; null for what is no JSON-RPC. */
export const readJsonRpcAnswer = (answer: unknown): JsonRpcAnswer | null => {
  if (!isObject(answer)) return null
  if ('error' in answer && answer.error != null) {
    const parsed = errorForm.safeParse(answer.error)
    return parsed.success ? { error: { ...parsed.data, data: readRevertData(parsed.data.data) } } : null
  }
  return 'result' in answer ? { result: answer.result } : null
}

/** Reads the answers of a batch by the ids of the requests; null for what is no list. */
export const readBatchAnswers = (answers: unknown): ReadonlyMap<unknown, unknown> | null => {
  if (!Array.isArray(answers)) return null
  const list: readonly unknown[] = answers
  return new Map(list.map((one) => [isObject(one) && 'id' in one ? one.id : null, one]))
}

/**
 * The JSON of an HTTP answer; null where there is none. Under a status of failure only a node's own error counts,
 * and nothing that a gateway says instead of it.
 */
export const readJsonBody = ({ status, text }: HttpAnswer): unknown => {
  const json = parseJson(text)
  if (isSuccess(status)) return json
  const answer = readJsonRpcAnswer(json)
  return answer !== null && 'error' in answer ? json : null
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Whether an HTTP status promises what was asked for. */
export const isSuccess = (status: number): boolean => status >= 200 && status <= 299

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null

const errorForm = z.object({ code: z.number(), message: z.string(), data: z.unknown().optional() })

const hexData = z.string().regex(/^0x[0-9a-fA-F]*$/)

/** Revert data stands in `data` itself, or in `data.data`, depending on the node. */
const readRevertData = (data: unknown): Hex | null => {
  const nested = z
    .union([hexData, z.object({ data: hexData }).transform((inner) => inner.data)])
    .safeParse(data)
  return nested.success ? `0x${nested.data.slice(2)}` : null
}
