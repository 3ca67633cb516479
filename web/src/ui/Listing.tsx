import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { navigate, withQuery } from '../router.js'
import type { Loaded } from '../useLoad.js'
import { ErrorNote } from './ErrorNote.js'
import { Empty } from './layout.js'

interface ListingProps {
  /** Plural, such as `streams`. */
  readonly noun: string
  readonly loaded: Loaded<{ readonly nextCursor?: string }>
  readonly isEmpty: boolean
  /** Of this page; null: the first one. */
  readonly cursor: string | null
  readonly isFiltered: boolean
  /** Of the links to the first page and to the next one; default: of a list by time. */
  readonly pager?: { readonly first: string; readonly next: string }
  /** Without any: says what to do. */
  readonly empty: ComponentChildren
  readonly children: ComponentChildren
}

/** The states of a list that is read page by page; the cursor is in the address of the page. */
export const Listing = ({
  noun,
  loaded,
  isEmpty,
  cursor,
  isFiltered,
  pager = { first: 'Newest', next: 'Older' },
  empty,
  children,
}: ListingProps) => {
  const { data, error, isLoading, isOther, reload } = loaded
  return (
    <>
      {error === null ? null : <ErrorNote error={error} onRetry={reload} />}
      <div aria-busy={isLoading} class={isOther ? 'stale' : ''}>
        {data === null ? (
          isLoading ? (
            <p class="soft">Loading …</p>
          ) : null
        ) : !isEmpty ? (
          children
        ) : isFiltered || cursor !== null ? (
          <Empty title={`No ${noun} match.`}>
            <p>
              <a href={location.pathname}>Show all</a>
            </p>
          </Empty>
        ) : (
          empty
        )}
      </div>
      {cursor === null && data?.nextCursor === undefined ? null : (
        <nav class="pager" aria-label={`Pages of ${noun}`}>
          {cursor === null ? null : <a href={withQuery({ cursor: null })}>{pager.first}</a>}
          {data?.nextCursor === undefined || isOther ? null : (
            <a href={withQuery({ cursor: data.nextCursor })}>{pager.next}</a>
          )}
        </nav>
      )}
    </>
  )
}

interface ChoiceProps {
  readonly label: string
  /** The parameter in the address of the page. */
  readonly name: string
  readonly value: string | undefined
  readonly options: readonly { readonly value: string; readonly label: string }[]
  /** Without a choice. */
  readonly all?: string
}

/** A filter of a list. */
export const Choice = ({ label, name, value, options, all = 'All' }: ChoiceProps) => {
  const id = useId()
  return (
    <div>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={value ?? ''}
        onInput={(event) => navigate(withQuery({ [name]: event.currentTarget.value, cursor: null }))}
      >
        <option value="">{all}</option>
        {options.map((each) => (
          <option key={each.value} value={each.value}>
            {each.label}
          </option>
        ))}
      </select>
    </div>
  )
}

/** Of states such as `active`. */
export const optionsOf = (states: readonly string[]): ChoiceProps['options'] =>
  states.map((value) => ({ value, label: `${value.slice(0, 1).toUpperCase()}${value.slice(1)}` }))
