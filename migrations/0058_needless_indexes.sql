-- quittance: runs beside 0039
-- `broadcasts_of_nonce` decides and finds the same.
drop index if exists broadcasts_by_nonce, broadcasts_one_per_nonce;
-- `webhook_deliveries_by_state` begins with the account and the state.
drop index if exists webhook_deliveries_waiting;
