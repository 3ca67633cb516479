/** Undoes `0013_discovery.sql`, `0014_sandbox.sql`, `0015_siwx_nonces.sql`, `0016_discovery_challenges.sql` and `0018_streams.sql`, for tests of upgrades. */
export const withoutExtensionTables = `
  drop table stream_payments, streams;
  drop table discovery_challenges, discovery_payers, discovery_recipients, discovery_resources, siwx_nonces, sandbox_messages,
    sandbox_inboxes, sandbox_scenarios, database_purpose;
  delete from schema_migration where number in (13, 14, 15, 16, 18)`
