/**
 * Undoes `0067_one_taker_of_an_authorization.sql` to `0077_checked_transactions.sql`, for tests of upgrades. What is pending
 * names its transaction, as the version before recorded it.
 */
export const withoutStatelessIndexes = `
  update settlements set transaction = transactions[cardinality(transactions)] where state = 'pending' and transaction is null;
  create unique index settlements_one_per_authorization on settlements (authorization_id)
    where state <> 'failed' or consumed_by is not null;
  create index settlements_of_account on settlements (caller, network, state, created_at desc, id desc)
    where caller <> 'anonymous';
  create index settlements_closed_by_network on settlements (state, network, created_at desc, id desc)
    where state in ('confirmed', 'failed');
  create index settlements_failed on settlements (authorization_id, closed_at) where state = 'failed';
  create index settlements_of_payer on settlements (payer_wallet)
    where dollar_decimals is not null and state in ('confirmed', 'failed');
  create index settlements_of_sponsored_payee on settlements (network, payee_wallet)
    where state = 'confirmed' and (network like 'ton:%' or network like 'tron:%');
  create index settlements_of_sponsored_payer on settlements (network, payer_wallet, state, closed_at)
    where details @> '{"sponsored": true}';
  drop index settlements_take_authorization, settlements_of_caller, settlements_confirmed, settlements_failed_by_network,
    settlements_failures, settlements_closed_of_payer, settlements_to_sponsored_payee, settlements_sponsored_confirmed,
    settlements_sponsored_failed;
  alter table settlements drop constraint settlements_sent;
  alter table settlements add constraint settlements_transaction
    check (state in ('claimed', 'failed') or transaction is not null or settled_amount is not distinct from 0);
  delete from schema_migration where number between 67 and 77`
