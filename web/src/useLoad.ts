import { useCallback, useEffect, useState } from 'preact/hooks'
import type { ApiError, Result } from './api.js'

interface Loaded<Data> {
  /** Of the last load that succeeded; null before it. */
  readonly data: Data | null
  /** Of the last load; null if it succeeded or is in progress. */
  readonly error: ApiError | null
  readonly isLoading: boolean
  reload(): void
  /** Changes what is shown without asking. */
  update(change: (data: Data) => Data): void
}

/** Loads when one of `keys` changes; an answer to an earlier one is dropped. */
export const useLoad = <Data>(
  load: (signal: AbortSignal) => Promise<Result<Data>>,
  keys: readonly unknown[],
): Loaded<Data> => {
  const [round, setRound] = useState(0)
  const [state, setState] = useState<Pick<Loaded<Data>, 'data' | 'error' | 'isLoading'>>({
    data: null,
    error: null,
    isLoading: true,
  })
  useEffect(() => {
    const left = new AbortController()
    setState((before) => ({ ...before, isLoading: true }))
    void load(left.signal).then((result) => {
      if (left.signal.aborted) return
      setState((before) =>
        result.ok
          ? { data: result.data, error: null, isLoading: false }
          : { data: before.data, error: result.error, isLoading: false },
      )
    })
    return () => left.abort()
  }, [round, ...keys])
  const reload = useCallback(() => setRound((count) => count + 1), [])
  const update = useCallback<Loaded<Data>['update']>((change) => {
    setState((before) => (before.data === null ? before : { ...before, data: change(before.data) }))
  }, [])
  return { ...state, reload, update }
}
