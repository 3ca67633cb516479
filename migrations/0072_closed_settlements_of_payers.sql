-- quittance: runs beside 0066
-- quittance: no transaction
create index concurrently settlements_closed_of_payer on settlements (payer_wallet)
  where dollar_decimals is not null and closed_at is not null;
