import type { components } from '../../../sdk/src/schema.js'

type PaymentPage = components['schemas']['AccountSettlementPage']
type Settlement = components['schemas']['Settlement']

export interface ListFilter {
  readonly status: Settlement['status'] | undefined
  readonly network: string | undefined
  readonly search: string | undefined
  /** Only the first page takes up what is new. */
  readonly isFirst: boolean
}

/** A page of payments after an event of one: changed, added in its place, or removed because it matches no longer. */
export const mergeChange = (page: PaymentPage, changed: Settlement, filter: ListFilter): PaymentPage => {
  const { settlements, nextCursor } = page
  const known = settlements.find(({ id }) => id === changed.id)
  const others = settlements.filter(({ id }) => id !== changed.id)
  const isListed =
    (filter.status === undefined || filter.status === changed.status) &&
    (filter.network === undefined || filter.network === changed.network)
  if (!isListed) return known === undefined ? page : { ...page, settlements: others }
  if (known !== undefined) {
    return {
      ...page,
      settlements: settlements.map((each) => (each === known ? { ...known, ...changed } : each)),
    }
  }
  const oldest = settlements.at(-1)?.createdAt ?? ''
  // What is older than the page is on a later one.
  const isOnLaterPage = nextCursor !== undefined && changed.createdAt < oldest
  if (!filter.isFirst || filter.search !== undefined || isOnLaterPage) return page
  const next = [...others, { ...changed, fee: '0' }].sort((one, other) =>
    other.createdAt.localeCompare(one.createdAt),
  )
  // A tab stays open for days. The next page begins after the last row that is kept.
  const kept = next.slice(0, maxRows)
  const last = kept.at(-1)
  if (kept.length === next.length || last === undefined) return { ...page, settlements: next }
  return { ...page, settlements: kept, nextCursor: last.id }
}

const maxRows = 200
