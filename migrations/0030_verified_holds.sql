-- What a verification reserved, while a settlement has the hold: a settlement that is refused before its claim leaves exactly
-- that. Null: nothing was verified, or only by a release that did not record it.
alter table reservations add column verified_amount numeric(78, 0), add column verified_until timestamptz;

-- When the settlements that no claim has followed yet reserved it.
alter table reservations add column settling timestamptz[] not null default '{}';
