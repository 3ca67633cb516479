-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_sponsored_confirmed on settlements (network, payer_wallet, closed_at)
  where details @> '{"sponsored": true}' and closed_at is not null and reason is null;
