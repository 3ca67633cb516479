/** Undoes `0017_holders_and_wallets.sql`, for tests of upgrades. */
export const withoutMetering = `
  drop index reservations_by_authorization;
  alter table reservations drop column holder;
  alter table settlements drop column payer_wallet, drop column payee_wallet, drop column dollar_decimals;
  delete from schema_migration where number = 17`
