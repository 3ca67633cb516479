import { useState } from 'preact/hooks'
import type { ApiError, Schemas } from '../api.js'
import { api } from '../session.js'
import { useAction } from '../useAction.js'

type Explanation = Schemas['Explanation']

interface Explaining {
  readonly explanation: Explanation | null
  readonly error: ApiError | null
  readonly isBusy: boolean
  /** `json`: a body of `/verify`, as it was or would be sent there. */
  ask(json: string): Promise<void>
  clear(): void
}

// It reads what /verify reads, and more after a refusal.
const timeoutMs = 30_000

/** Of the latest request: `clear` and another request drop the answer to an earlier one. */
export const useExplain = (): Explaining => {
  const { isBusy, error, run, clear } = useAction()
  const [round] = useState({ count: 0 })
  const [explanation, show] = useState<Explanation | null>(null)
  const begin = (): number => {
    round.count += 1
    show(null)
    return round.count
  }
  return {
    explanation,
    error,
    isBusy,
    ask: async (json) => {
      const own = begin()
      const answer = await run(() => api.post('/v1/explain', { json, timeoutMs }))
      if (round.count === own) show(answer)
    },
    clear: () => {
      begin()
      clear()
    },
  }
}
