-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_confirmed on settlements (network, created_at desc, id desc)
  where closed_at is not null and reason is null;
