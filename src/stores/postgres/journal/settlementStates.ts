/*
 * SQL conditions of the state of a settlement. Each says the same twice: by `state`, and by `closed_at` and `reason`, which a
 * recorded transaction leaves as they are; constraints of the table hold them together. Postgres uses a partial index only
 * where its predicate follows from the condition, so each finds indexes of either kind: this version runs on a schema whose
 * indexes name `state`, and beside a later one on a schema whose indexes do not.
 */

export const isOpen = (settlement: string): string =>
  `(${settlement}.state in ('claimed', 'pending') and ${settlement}.closed_at is null and ${settlement}.reason is null)`

export const isConfirmed = (settlement: string): string =>
  `(${settlement}.state = 'confirmed' and ${settlement}.closed_at is not null and ${settlement}.reason is null)`

// `reason is not null` follows from its length. The planner would multiply the share of the rows that it knows to have a reason
// with that of those that failed, which are the same: it would expect few, and sort them all instead of reading the newest.
export const hasFailed = (settlement: string): string =>
  `(${settlement}.state = 'failed' and length(${settlement}.reason) >= 0)`

/** The status is a literal, so that the condition matches the index of closed settlements. */
export const isClosedAs = (settlement: string, status: 'confirmed' | 'failed'): string =>
  status === 'confirmed' ? isConfirmed(settlement) : hasFailed(settlement)

export const isNotFailed = (settlement: string): string =>
  `(${settlement}.state <> 'failed' and ${settlement}.reason is null)`

/** The settlement takes its authorization, so that no other can: the unique index has these rows alone. */
export const takesAuthorization = (settlement: string): string => takes(`${settlement}.`)

const takes = (prefix: string): string =>
  `((${prefix}state <> 'failed' or ${prefix}consumed_by is not null)
    and (${prefix}reason is null or ${prefix}consumed_by is not null))`

/** Says the same of a row that is inserted: the unique index is inferred from it. */
export const takesAuthorizationAsInserted = takes('')

/**
 * Names the transaction that was recorded last, or the one that a closed settlement closed with. A later version writes the
 * column when it closes a settlement, and until then only the list of its transactions.
 */
export const newestTransaction = (settlement: string): string =>
  `coalesce(${settlement}.transaction, ${settlement}.transactions[cardinality(${settlement}.transactions)])`
