-- Who holds what an authorization reserved: `verify`, `settle` or a stream. Existing rows may be of either of the first
-- two; a verification yields to every other holder, as they did before.
alter table reservations add column holder text not null default 'verify';
create index reservations_by_authorization on reservations (authorization_id);

-- One spelling for each wallet, and the worth of what was paid, for figures over wallets. Rows of before have neither.
alter table settlements add column payer_wallet text, add column payee_wallet text, add column dollar_decimals smallint;
