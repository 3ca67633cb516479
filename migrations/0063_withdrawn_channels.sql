-- quittance: runs beside 0039
-- quittance: no transaction
-- What is about to be withdrawn, however many channels there are.
create index concurrently channel_vouchers_withdrawn on channel_vouchers (network, channel_id)
  where is_live and withdraw_requested_at > 0;
