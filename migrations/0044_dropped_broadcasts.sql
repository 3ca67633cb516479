-- quittance: runs beside 0039
-- How far the recorded transactions of final settlements are dropped, for each network. Settlements up to the cursor are not
-- looked at again.
create table if not exists dropped_broadcasts (
  network text primary key,
  created_at timestamptz not null,
  settlement_id uuid not null,
  -- All settlements whose transactions were dropped had closed before.
  closed_before timestamptz not null
) with (fillfactor = 50);
