import type { ComponentChildren } from 'preact'
import type { Result } from '../api.js'
import { useLoad } from '../useLoad.js'
import { useReloadOnEvents } from '../useReloadOnEvents.js'
import { Choice, Listing, optionsOf } from './Listing.js'
import { Empty, Page } from './layout.js'

/** Of one page. */
interface ListQuery<State> {
  readonly limit: number
  readonly status?: State
  readonly cursor?: string
}

interface EventedListProps<State extends string, Data, Item> {
  /** Singular, as in the names of its events: `stream` of `stream.closed`. */
  readonly noun: string
  readonly lead: string
  /** Of the address of the page: `status` and `cursor`. */
  readonly query: URLSearchParams
  /** What `status` can be; empty: it is no filter. */
  readonly states: readonly State[]
  readonly load: (query: ListQuery<State>, signal: AbortSignal) => Promise<Result<Data>>
  readonly readItems: (data: Data) => readonly Item[]
  /** Beside the filter. */
  readonly settings?: ComponentChildren
  /** What to do without any. */
  readonly advice: ComponentChildren
  readonly children: (items: readonly Item[]) => ComponentChildren
}

const pageSize = 50

/** A page of a list that is filtered by status, read page by page, and reloaded when events change it. */
export const EventedList = <State extends string, Data extends { readonly nextCursor?: string }, Item>({
  noun,
  lead,
  query,
  states,
  load,
  readItems,
  settings,
  advice,
  children,
}: EventedListProps<State, Data, Item>) => {
  const status = states.find((each) => each === query.get('status'))
  const cursor = query.get('cursor')
  const loaded = useLoad(
    (signal) =>
      load(
        {
          limit: pageSize,
          ...(status === undefined ? {} : { status }),
          ...(cursor === null ? {} : { cursor }),
        },
        signal,
      ),
    [status, cursor],
  )
  useReloadOnEvents(noun, loaded.reload)
  const items = loaded.data === null ? [] : readItems(loaded.data)
  const title = `${noun.slice(0, 1).toUpperCase()}${noun.slice(1)}s`
  return (
    <Page title={title} lead={lead}>
      {states.length === 0 ? null : (
        <search aria-label={title} class="filters">
          <Choice label="Status" name="status" value={status} options={optionsOf(states)} />
          {settings}
        </search>
      )}
      <Listing
        noun={`${noun}s`}
        loaded={loaded}
        isEmpty={items.length === 0}
        cursor={cursor}
        isFiltered={status !== undefined}
        empty={<Empty title={`No ${noun} yet.`}>{advice}</Empty>}
      >
        {children(items)}
      </Listing>
    </Page>
  )
}
