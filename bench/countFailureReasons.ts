import { z } from 'zod'
import { isSettled } from './measureLoad.js'
import type { Exchange } from './runLoad.js'

const answered = z.union([
  z.object({ errorReason: z.string() }).transform(({ errorReason }) => errorReason),
  z.object({ code: z.string() }).transform(({ code }) => code),
])

export const countFailureReasons = (exchanges: readonly Exchange[]): readonly string[] => {
  const counts = new Map<string, number>()
  for (const { answer } of exchanges) {
    if (isSettled(answer)) continue
    const reason = answer === '' ? 'no response' : readReason(answer)
    counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts]
    .sort(([, left], [, right]) => right - left)
    .map(([reason, count]) => `${count} × ${reason}`)
}

const readReason = (answer: string): string => {
  try {
    return answered.parse(JSON.parse(answer))
  } catch {
    return 'a response outside the specification'
  }
}
