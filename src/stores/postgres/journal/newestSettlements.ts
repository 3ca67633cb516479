export interface ListingSql {
  /** Condition on `s` that fixes the leading columns of the index and implies its predicate. */
  readonly scope: string
  readonly states: readonly string[]
  /** A parameter such as `$1`; null lists every network. */
  readonly network: string | null
  /** Bounds of (created_at, id) on `s`. */
  readonly bounds: string
  readonly limit: string
}

/**
 * Recursive CTEs that end in `page (id, created_at)`, newest first. The index is read once for each network and state,
 * and what it yields is merged: the cost is that of the page, also for a filter that few rows match.
 */
export const newestSettlements = ({ scope, states, network, bounds, limit }: ListingSql): string => `
  networks (network) as (${network === null ? everyNetwork(scope) : `select ${network}::text`}
  ), page as (
    select p.id, p.created_at
    from networks n cross join (values ${states.map((state) => `('${state}')`).join()}) as t (state)
      cross join lateral (
        select s.id, s.created_at from settlements s
        where ${scope} and s.network = n.network and s.state = t.state and ${bounds}
        order by s.created_at desc, s.id desc limit ${limit}) p
    where n.network is not null
    order by p.created_at desc, p.id desc limit ${limit}
  )`

/** One index entry for each network. */
const everyNetwork = (scope: string): string => `
    (select s.network from settlements s where ${scope} order by s.network limit 1)
    union all
    select (select s.network from settlements s where ${scope} and s.network > n.network order by s.network limit 1)
    from networks n where n.network is not null`
