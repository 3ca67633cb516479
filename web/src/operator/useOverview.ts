import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError, Schemas } from '../api.js'
import { operatorApi } from './session.js'

type Overview = Schemas['OperatorOverview']

interface FollowedOverview {
  /** The last that was answered; null before it. */
  readonly overview: Overview | null
  /** Of the last request; null if it succeeded. */
  readonly error: ApiError | null
  /** Since the last answer; it grows only while the page is visible. */
  readonly ageMs: number
  /** Whether what is shown may no longer hold. */
  readonly isStale: boolean
  reload(): void
}

const refreshMs = 5_000
const staleMs = 12_000
const timeoutMs = 10_000

/** Asks while the page is visible, and never again before the last request was answered or given up. */
export const useOverview = (): FollowedOverview => {
  const [{ overview, error, at }, setAnswer] = useState<{
    readonly overview: Overview | null
    readonly error: ApiError | null
    readonly at: number
  }>({ overview: null, error: null, at: 0 })
  const [now, setNow] = useState(0)
  const asked = useRef<AbortController | null>(null)
  const reload = useCallback(async (): Promise<void> => {
    if (asked.current !== null) return
    const left = new AbortController()
    asked.current = left
    const result = await operatorApi.get('/v1/operator/overview', { signal: left.signal, timeoutMs })
    if (left.signal.aborted) return
    asked.current = null
    setNow(performance.now())
    if (result.ok) setAnswer({ overview: result.data, error: null, at: performance.now() })
    else setAnswer((before) => ({ ...before, error: result.error }))
  }, [])
  useEffect(() => {
    const look = (): void => {
      if (document.visibilityState !== 'visible') return
      setNow(performance.now())
      void reload()
    }
    look()
    const timer = setInterval(look, refreshMs)
    document.addEventListener('visibilitychange', look)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', look)
      asked.current?.abort()
      asked.current = null
    }
  }, [])
  const ageMs = overview === null ? 0 : Math.max(0, now - at)
  const isStale = overview !== null && (error !== null || ageMs > staleMs)
  return { overview, error, ageMs, isStale, reload: () => void reload() }
}
