-- quittance: runs beside 0039
-- Streams that a payment channel pays. Versions before this one do not settle them: stream_payments has none of them.
alter table streams
  -- Id and config of the channel. Null: an authorization pays, whose maximum is held.
  add column if not exists channel json,
  -- What the channel had been charged before, in smallest units.
  add column if not exists baseline numeric(78, 0),
  -- Of the highest voucher, which `voucher` signs; cumulative over the life of the channel.
  add column if not exists ceiling numeric(78, 0),
  -- Signature of the channel's receiverAuthorizer over the claim that settles the stream.
  add column if not exists claim_signature text;
