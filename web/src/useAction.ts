import { useCallback, useState } from 'preact/hooks'
import type { ApiError, Result } from './api.js'

interface Action {
  readonly isBusy: boolean
  /** Of the last request; null if it succeeded or is in progress. */
  readonly error: ApiError | null
  /** Null: it failed. */
  run<Data>(request: () => Promise<Result<Data>>): Promise<Data | null>
  clear(): void
}

/** A request that changes something, for a button that is disabled meanwhile. */
export const useAction = (): Action => {
  const [state, setState] = useState<Pick<Action, 'isBusy' | 'error'>>({ isBusy: false, error: null })
  const run = useCallback<Action['run']>(async (request) => {
    setState({ isBusy: true, error: null })
    const result = await request()
    setState({ isBusy: false, error: result.ok ? null : result.error })
    return result.ok ? result.data : null
  }, [])
  const clear = useCallback(() => setState({ isBusy: false, error: null }), [])
  return { ...state, run, clear }
}
