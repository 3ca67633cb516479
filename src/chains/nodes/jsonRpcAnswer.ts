import { z } from 'zod'
import type { HttpAnswer } from './post.js'

/** What a node answered to one request. */
export type JsonRpcAnswer =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data: unknown } }

/** Reads one answer; null for what is no JSON-RPC. */
export const readJsonRpcAnswer = (answer: unknown): JsonRpcAnswer | null => {
  if (!isObject(answer)) return null
  if ('error' in answer && answer.error != null) {
    const parsed = errorForm.safeParse(
      typeof answer.error === 'string' ? toForm(answer.error, answer) : answer.error,
    )
    if (!parsed.success) return null
    const { code, message, data = null } = parsed.data
    return { error: { code, message, data } }
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

/** What a text says in JSON; null where it is none. */
export const parseJson = (text: string): unknown => {
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

/** Some gateways, such as TON's, put the words alone into `error` and the code beside it. */
const toForm = (message: string, answer: object) => ({ code: 'code' in answer ? answer.code : 0, message })
