import { withoutConsumed } from './withoutConsumed.js'
import { withoutCredit } from './withoutCredit.js'

/**
 * Undoes `0017_holders_and_wallets.sql`, `0018_streams.sql`, `0019_intents.sql`, `0020_credit.sql`,
 * `0021_reconciliation.sql`, `0022_accounts_of_holds.sql`, `0023_intent_control.sql`,
 * `0024_returned_credit.sql`, `0025_recipient_statements.sql`, `0026_unique_amounts.sql`, `0027_promised_holds.sql`,
 * `0028_streams_ending.sql`, `0029_wait_for_holds.sql`, `0030_verified_holds.sql`, `0031_sponsored_payments.sql`,
 * `0032_consumed_authorizations.sql`, `0033_consumed_before.sql`, `0034_holders_of_scenarios.sql`,
 * `0035_statements_of_resources.sql`, `0036_customers.sql`, `0037_promisees.sql` and `0038_claimed_purpose.sql`, for tests of
 * upgrades.
 */
export const withoutMetering = `
  ${withoutConsumed};
  drop table unique_amounts, recipient_statements;
  drop table nightly_reconciliations, request_batches;
  ${withoutCredit};
  drop table intents, stream_payments, streams;
  drop function find_holds;
  drop index reservations_by_authorization, settlements_of_sponsored_payee, settlements_of_sponsored_payer;
  alter table reservations drop column holder, drop column account, drop column promised_at,
    drop column verified_amount, drop column verified_until, drop column settling;
  alter table settlements drop column payer_wallet, drop column payee_wallet, drop column dollar_decimals;
  delete from schema_migration where number between 17 and 31`
