import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'

export interface Reply {
  readonly stream: 'verify' | 'settle' | 'tiers'
  /** `valid`, `settled`, `pending`, `refused`, a status with its code, or `none`. */
  readonly outcome: string
  readonly latencyMs: number
  readonly endedAtMs: number
}

export interface OutageClients {
  readonly replies: readonly Reply[]
  /** Last response to each payment of the settle stream, by index. */
  readonly lastAnswers: ReadonlyMap<number, string>
  /** Stops new payments and waits for final results of those in progress. */
  finish(): Promise<void>
}

const answerDeadlineMs = 30_000
const retryAfterMs = 250

const answer = z.looseObject({
  isValid: z.boolean().optional(),
  success: z.boolean().optional(),
  status: z.string().optional(),
  errorReason: z.string().optional(),
  code: z.string().optional(),
})

/**
 * Some clients verify, some settle with an `Idempotency-Key` until the result is
 * final, one requests the tiers.
 */
export const startOutageClients = (
  url: string,
  { verifyBody, settleBodies }: { readonly verifyBody: string; readonly settleBodies: readonly string[] },
): OutageClients => {
  const begun = performance.now()
  const replies: Reply[] = []
  const lastAnswers = new Map<number, string>()
  let isEnding = false

  const ask = async (stream: Reply['stream'], path: string, init: RequestInit): Promise<string> => {
    const sentAt = performance.now()
    const { outcome, text } = await exchange(`${url}${path}`, init)
    const endedAt = performance.now()
    replies.push({ stream, outcome, latencyMs: endedAt - sentAt, endedAtMs: endedAt - begun })
    if (outcome === 'none' || outcome.startsWith('5')) await sleep(retryAfterMs)
    return text === '' ? outcome : text
  }

  const post = (body: string, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  })
  const verifyAgain = async () => {
    while (!isEnding) await ask('verify', '/verify', post(verifyBody))
  }
  const askTiers = async () => {
    while (!isEnding) {
      await ask('tiers', '/tiers', {})
      await sleep(10)
    }
  }
  const remaining = settleBodies.entries()
  const settleOwn = async () => {
    for (const [index, body] of remaining) {
      if (isEnding) return
      const headers = { 'idempotency-key': randomUUID() }
      let text = ''
      do {
        text = await ask('settle', '/settle', post(body, headers))
        lastAnswers.set(index, text)
      } while (!isFinal(text))
    }
  }
  const work = [...repeat(4, verifyAgain), ...repeat(8, settleOwn), askTiers()]
  return {
    replies,
    lastAnswers,
    finish: async () => {
      isEnding = true
      await Promise.all(work)
    },
  }
}

const repeat = (count: number, work: () => Promise<void>): readonly Promise<void>[] =>
  Array.from({ length: count }, work)

const isFinal = (text: string): boolean => {
  const parsed = answer.safeParse(parseJson(text))
  return parsed.success && parsed.data.success !== undefined && parsed.data.status !== 'pending'
}

const exchange = async (url: string, init: RequestInit) => {
  try {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(answerDeadlineMs) })
    const text = await response.text()
    return { outcome: describe(response.status, text), text }
  } catch {
    return { outcome: 'none', text: '' }
  }
}

const describe = (status: number, text: string): string => {
  const parsed = answer.safeParse(parseJson(text))
  if (!parsed.success) return String(status)
  const { isValid, success, code, status: state } = parsed.data
  if (status !== 200) return `${status} ${code ?? ''}`.trim()
  if (state === 'pending') return 'pending'
  if (isValid !== undefined) return isValid ? 'valid' : 'refused'
  if (success !== undefined) return success ? 'settled' : 'refused'
  return 'answered'
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
