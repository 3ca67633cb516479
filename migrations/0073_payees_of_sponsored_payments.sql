-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_to_sponsored_payee on settlements (network, payee_wallet)
  where closed_at is not null and reason is null and (network like 'ton:%' or network like 'tron:%');
