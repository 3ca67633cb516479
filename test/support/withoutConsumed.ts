import { withoutStatelessIndexes } from './withoutStatelessIndexes.js'

/**
 * Undoes `0032_consumed_authorizations.sql`, `0033_consumed_before.sql`, `0034_holders_of_scenarios.sql`,
 * `0035_statements_of_resources.sql`, `0036_customers.sql`, `0037_promisees.sql` and `0038_claimed_purpose.sql`, and the
 * indexes of `0067_one_taker_of_an_authorization.sql` and later.
 */
export const withoutConsumed = `
  ${withoutStatelessIndexes};
  alter table if exists discovery_resources drop column if exists stated;
  alter table if exists discovery_challenges drop column if exists claimant, alter column method drop default;
  alter table if exists sandbox_scenarios drop column if exists holders;
  alter table accounts drop column is_proven, drop column registrant, drop column is_granted;
  alter table reservations drop column promisee, drop column promised_customer;
  drop function claim_purpose, refuse_other_purpose cascade;
  alter table instances drop column is_sandbox, drop column is_admitted;
  drop table consumed_authorizations;
  drop function record_consumed_authorization, refuse_change_of_consumed, is_consumed_for_good cascade;
  drop function digest_terms, digest_authorization;
  delete from schema_migration where number >= 32`
