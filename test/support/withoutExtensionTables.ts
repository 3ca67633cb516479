/** Undoes `0013_discovery.sql`, `0014_sandbox.sql`, `0015_siwx_nonces.sql` and `0016_discovery_challenges.sql`, for tests of upgrades. */
export const withoutExtensionTables = `
  drop table discovery_challenges, discovery_payers, discovery_recipients, discovery_resources, siwx_nonces, sandbox_messages,
    sandbox_inboxes, sandbox_scenarios, database_purpose;
  delete from schema_migration where number in (13, 14, 15, 16)`
