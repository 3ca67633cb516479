/** Undoes `0020_credit.sql` and `0024_returned_credit.sql`, for tests of upgrades. */
export const withoutCredit = `
  drop table credit_scores, credit_changes, credit_pairs, credit_failures, credit_wallets, credit_edges;
  drop index if exists settlements_of_payer;
  drop function track_credit, track_inserted_credit, track_truncated_credit cascade;
  drop function rebuild_credit, change_credit, credit_is_fault, credit_capped_volume, credit_capped_payments,
    credit_counts, credit_worth, credit_wallet;
  delete from schema_migration where number in (20, 24)`
