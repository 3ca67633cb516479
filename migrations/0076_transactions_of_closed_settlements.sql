-- quittance: runs beside 0066
-- A recorded transaction changes no column of an index, so that Postgres writes the new version of the row beside the old one.
drop index if exists settlements_one_per_authorization, settlements_of_account, settlements_closed_by_network, settlements_failed,
  settlements_of_payer, settlements_of_sponsored_payee, settlements_of_sponsored_payer;
-- The column may stay empty until a settlement closes: the list has what was recorded.
alter table settlements drop constraint if exists settlements_sent;
alter table settlements add constraint settlements_sent check (state in ('claimed', 'failed') or transaction is not null
  or settled_amount is not distinct from 0 or (state = 'pending' and cardinality(transactions) > 0)) not valid;
alter table settlements drop constraint if exists settlements_transaction;
