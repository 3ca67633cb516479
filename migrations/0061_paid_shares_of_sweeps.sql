-- quittance: runs beside 0039
-- What a sweep has paid of each account's part, so that each can be asked again where a reorg has the sweep fail. A version before
-- this one deletes the part at once.
alter table channel_sweep_shares
  add column if not exists paid_by uuid,
  add column if not exists paid_amount numeric,
  add column if not exists paid_since timestamptz;
