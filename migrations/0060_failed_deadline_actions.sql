-- quittance: runs beside 0039
-- How often in a row what an account asked for at the deadline of a hold has failed. An older version leaves it as it is.
alter table held_payments add column if not exists action_failures integer not null default 0;
