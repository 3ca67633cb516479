-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_failures on settlements (authorization_id, closed_at) where reason is not null;
