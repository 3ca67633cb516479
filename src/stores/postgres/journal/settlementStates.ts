/*
 * SQL conditions of the state of a settlement, by `closed_at` and `reason`: a recorded transaction changes `state`, so that an
 * index which named it would be written with each. Constraints of the table hold the three columns together.
 */

// What is open has no reason: that it says so lets it find the index of those that take their authorization.
export const isOpen = (settlement: string): string =>
  `(${settlement}.closed_at is null and ${settlement}.reason is null)`

export const isConfirmed = (settlement: string): string =>
  `(${settlement}.closed_at is not null and ${settlement}.reason is null)`

export const hasFailed = (settlement: string): string => `${settlement}.reason is not null`

/** The status is a literal, so that the condition matches the index of closed settlements. */
export const isClosedAs = (settlement: string, status: 'confirmed' | 'failed'): string =>
  status === 'confirmed' ? isConfirmed(settlement) : hasFailed(settlement)

export const isNotFailed = (settlement: string): string => `${settlement}.reason is null`

/** The settlement takes its authorization, so that no other can: the unique index has these rows alone. */
export const takesAuthorization = (settlement: string): string => takes(`${settlement}.`)

const takes = (prefix: string): string => `(${prefix}reason is null or ${prefix}consumed_by is not null)`

/** Says the same of a row that is inserted: the unique index is inferred from it. */
export const takesAuthorizationAsInserted = takes('')

/**
 * Names the transaction that was recorded last, or the one that a closed settlement closed with. The column is written when a
 * settlement closes; until then only the list has what was recorded, except where a reorg opened it again or the version before
 * recorded it.
 */
export const newestTransaction = (settlement: string): string =>
  `coalesce(${settlement}.transaction, ${settlement}.transactions[cardinality(${settlement}.transactions)])`
