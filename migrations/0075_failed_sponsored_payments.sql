-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_sponsored_failed on settlements (network, payer_wallet, closed_at)
  where details @> '{"sponsored": true}' and reason is not null;
