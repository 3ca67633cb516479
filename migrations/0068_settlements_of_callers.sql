-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_of_caller on settlements
  (caller, network, (closed_at is not null), (reason is null), created_at desc, id desc) where caller <> 'anonymous';
