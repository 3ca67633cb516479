import type { ComponentChildren } from 'preact'
import type { Loaded } from '../useLoad.js'
import { ErrorNote } from './ErrorNote.js'

interface LoadedPartsProps<Data> {
  readonly loaded: Pick<Loaded<Data>, 'data' | 'error' | 'isLoading' | 'reload'>
  /** Where the service knows none by this name. */
  readonly missing: ComponentChildren
  readonly children: (data: Data) => ComponentChildren
}

/** The states of a page about one thing. */
export const LoadedParts = <Data,>({
  loaded: { data, error, isLoading, reload },
  missing,
  children,
}: LoadedPartsProps<Data>) => (
  <>
    {error === null ? null : error.status === 404 || error.status === 400 ? (
      missing
    ) : (
      <ErrorNote error={error} onRetry={reload} />
    )}
    {data === null ? isLoading ? <p class="soft">Loading …</p> : null : children(data)}
  </>
)
