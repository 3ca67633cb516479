import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError, Result } from './api.js'

export interface Loaded<Data> {
  /** Of the last load that succeeded; null before it. */
  readonly data: Data | null
  /** Of the last load; null if it succeeded or is in progress. */
  readonly error: ApiError | null
  readonly isLoading: boolean
  /** Says whether `data` belongs to earlier keys, and is shown until that of these arrives. */
  readonly isOther: boolean
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
  // Made while an answer is on its way, which may be older than they are; null: none is.
  const changes = useRef<((data: Data) => Data)[] | null>(null)
  const loaded = useRef('')
  const wanted = JSON.stringify(keys)
  useEffect(() => {
    const left = new AbortController()
    changes.current = []
    setState((before) => ({ ...before, isLoading: true }))
    void load(left.signal).then((result) => {
      if (left.signal.aborted) return
      const isSame = loaded.current === wanted
      if (result.ok) {
        const data = (changes.current ?? []).reduce((changed, change) => change(changed), result.data)
        loaded.current = wanted
        setState({ data, error: null, isLoading: false })
      } else {
        setState((before) => ({ data: isSame ? before.data : null, error: result.error, isLoading: false }))
      }
      changes.current = null
    })
    return () => left.abort()
  }, [round, wanted])
  const reload = useCallback(() => setRound((count) => count + 1), [])
  const update = useCallback<Loaded<Data>['update']>((change) => {
    changes.current?.push(change)
    setState((before) => (before.data === null ? before : { ...before, data: change(before.data) }))
  }, [])
  return { ...state, isOther: state.data !== null && loaded.current !== wanted, reload, update }
}
