/*
 * What a later version does to the indexes of `settlements`, in the order of its migrations: none names `state` or another
 * column that a recorded transaction changes. Code of this version runs before, between and after.
 */

/** Builds the index that decides races beside the one of this version, without a lock. */
export const buildLaterUniqueIndex = `
  create unique index concurrently settlements_take_authorization on settlements (authorization_id)
    where reason is null or consumed_by is not null`

export const buildLaterIndexes: readonly string[] = [
  `create index concurrently settlements_of_caller on settlements
    (caller, network, (closed_at is not null), (reason is null), created_at desc, id desc) where caller <> 'anonymous'`,
  `create index concurrently settlements_confirmed on settlements (network, created_at desc, id desc)
    where closed_at is not null and reason is null`,
  `create index concurrently settlements_failed_by_network on settlements (network, created_at desc, id desc)
    where reason is not null`,
  `create index concurrently settlements_failures on settlements (authorization_id, closed_at) where reason is not null`,
  `create index concurrently settlements_closed_of_payer on settlements (payer_wallet)
    where dollar_decimals is not null and closed_at is not null`,
  `create index concurrently settlements_to_sponsored_payee on settlements (network, payee_wallet)
    where closed_at is not null and reason is null and (network like 'ton:%' or network like 'tron:%')`,
  `create index concurrently settlements_sponsored_confirmed on settlements (network, payer_wallet, closed_at)
    where details @> '{"sponsored": true}' and closed_at is not null and reason is null`,
  `create index concurrently settlements_sponsored_failed on settlements (network, payer_wallet, closed_at)
    where details @> '{"sponsored": true}' and reason is not null`,
]

/** Drops the indexes and the constraint of this version. A transaction is then a column of what is closed. */
export const dropEarlierIndexes = `
  drop index settlements_one_per_authorization, settlements_of_account, settlements_closed_by_network, settlements_failed,
    settlements_of_payer, settlements_of_sponsored_payee, settlements_of_sponsored_payer;
  alter table settlements add constraint settlements_sent check (state in ('claimed', 'failed') or transaction is not null
    or settled_amount is not distinct from 0 or (state = 'pending' and cardinality(transactions) > 0)) not valid;
  alter table settlements drop constraint settlements_transaction`

export const allLaterIndexes: readonly string[] = [
  buildLaterUniqueIndex,
  ...buildLaterIndexes,
  dropEarlierIndexes,
]

/** How a later version records a transaction: $1 is the settlement, $2 its instance, $3 the transaction. */
export const recordAsLater = `
  with held as (
    update settlements set state = 'pending', transaction = case when transaction is not null then $3 end,
      transactions = array_append(transactions, $3), recorded_at = coalesce(recorded_at, now())
    where id = $1 and owner = $2 and state in ('claimed', 'pending') returning id, network
  ), stored as (
    insert into broadcasts (network, transaction, bytes) select network, $3, '0x' from held
  )
  insert into broadcast_settlements (network, transaction, settlement_id) select network, $3, id from held`
