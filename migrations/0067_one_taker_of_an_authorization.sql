-- quittance: runs beside 0066
-- quittance: no transaction
-- Decides races as the index of 0003 does, without a column that a recorded transaction changes.
create unique index concurrently settlements_take_authorization on settlements (authorization_id)
  where reason is null or consumed_by is not null;
