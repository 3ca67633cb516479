/** Undoes `0011_tiers_and_events.sql`, for tests of its upgrade. */
export const withoutTiersAndEvents = `
  drop table event_counters;
  drop index webhook_deliveries_by_state, webhook_deliveries_feed, webhook_deliveries_unnumbered;
  create index webhook_deliveries_of_account on webhook_deliveries (account_id, created_at desc, id desc);
  alter table webhook_deliveries drop column position;
  delete from webhook_deliveries where state = 'stored';
  alter table webhook_deliveries drop constraint webhook_deliveries_state_check;
  alter table webhook_deliveries add constraint webhook_deliveries_state_check
    check (state in ('waiting', 'delivered', 'failed'));
  alter table settlements drop column proof_fingerprint;
  alter table accounts drop constraint accounts_tier_check;
  alter table accounts add constraint accounts_tier_check
    check (tier in ('free', 'builder', 'scale', 'enterprise'));
  delete from schema_migration where name like '%_tiers_and_events.sql'`
