-- quittance: runs beside 0039
-- Settlements that the cursor of dropped_broadcasts has passed before they were final: their transactions are dropped later.
create table if not exists deferred_broadcasts (
  network text not null,
  settlement_id uuid not null,
  primary key (network, settlement_id)
);
-- Those that it passed before are found once more.
update dropped_broadcasts set created_at = '-infinity', settlement_id = '00000000-0000-0000-0000-000000000000';
