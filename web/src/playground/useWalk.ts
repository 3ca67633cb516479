import { useEffect, useRef, useState } from 'preact/hooks'
import { createSend } from './exchange.js'
import type { Plan } from './plan.js'
import {
  type Found,
  newOrder,
  nothingFound,
  type StepName,
  type StepResult,
  stepNames,
  type Taken,
  takeAdvance,
  takeStep,
} from './steps.js'

interface WalkState {
  readonly running: StepName | null
  readonly results: Readonly<Partial<Record<StepName, StepResult>>>
  readonly found: Found
}

interface Walk extends WalkState {
  canTake(name: StepName): boolean
  /** One after the other, until one does not pass. */
  take(names: readonly StepName[]): Promise<void>
  /** With another `Idempotency-Key`. */
  settleAsAnother(): Promise<void>
  advance(): Promise<void>
}

/** Of one plan: a component with another plan has another key. */
export const useWalk = (plan: Plan): Walk => {
  const [state, show] = useState<WalkState>(() => ({ running: null, results: {}, found: nothingFound() }))
  const latest = useRef(state)
  const left = useRef<AbortController | null>(null)
  useEffect(() => {
    const controller = new AbortController()
    left.current = controller
    return () => controller.abort()
  }, [])

  const update = (change: Partial<WalkState>): void => {
    latest.current = { ...latest.current, ...change }
    show(latest.current)
  }

  const run = async (
    name: StepName,
    act: (input: Parameters<typeof takeStep>[1]) => Promise<Taken | null>,
  ) => {
    const signal = left.current?.signal
    if (signal === undefined || signal.aborted) return false
    update({ running: name })
    const taken = await act({ plan, found: latest.current.found, send: createSend(signal) })
    if (signal.aborted) return false
    const { results, found } = latest.current
    if (taken === null) update({ running: null })
    else {
      // What was found after an earlier step belongs to it.
      const kept = Object.entries(results).filter(([each]) => isBefore(each, name))
      update({
        running: null,
        results: { ...Object.fromEntries(kept), [name]: taken.result },
        found: { ...found, ...taken.found },
      })
    }
    return taken?.result.isPassed === true
  }

  const isFree = () => latest.current.running === null

  return {
    ...state,
    canTake: (name) => {
      const before = stepNames[stepNames.indexOf(name) - 1]
      if (state.running !== null) return false
      // A refusal by /verify can be shown to /settle.
      if (name === 'settle') return state.results.verify !== undefined
      return before === undefined || state.results[before]?.isPassed === true
    },
    take: async (names) => {
      if (!isFree()) return
      for (const name of names) {
        if (!(await run(name, (input) => takeStep(name, input)))) return
      }
    },
    settleAsAnother: async () => {
      if (!isFree()) return
      const { found } = latest.current
      const other = { ...found, idempotencyKey: newOrder() }
      await run('settle', async (input) => {
        const taken = await takeStep('settle', { ...input, found: other })
        // The page goes on with the payment that settled.
        return { ...taken, found: {} }
      })
    },
    advance: async () => {
      if (isFree()) await run('settle', takeAdvance)
    },
  }
}

const isBefore = (each: string, name: StepName): boolean =>
  stepNames.some((step, at) => step === each && at < stepNames.indexOf(name))
