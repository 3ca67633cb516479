/** A table of refusals: by reason, then by what is refused. */
export type ByReason<Case> = Readonly<Record<string, Readonly<Record<string, Case>>>>

export const listByReason = <Case>(table: ByReason<Case>) =>
  Object.entries(table).flatMap(([reason, cases]) =>
    Object.entries(cases).map(([title, each]) => [title, reason, each] as const),
  )
