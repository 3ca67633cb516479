/** Undoes `0032_consumed_authorizations.sql` and `0033_consumed_before.sql`, for tests of upgrades. */
export const withoutConsumed = `
  drop table consumed_authorizations;
  drop function record_consumed_authorization, refuse_change_of_consumed, is_consumed_for_good cascade;
  drop function digest_terms, digest_authorization;
  delete from schema_migration where number in (32, 33)`
