-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_failed_by_network on settlements (network, created_at desc, id desc)
  where reason is not null;
