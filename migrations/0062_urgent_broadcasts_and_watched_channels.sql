-- quittance: runs beside 0039
-- Which parts of a transaction are urgent for which accounts: [{"account", "share"}]; their budget of what is urgent pays for its
-- replacements. Null: none, as in those of an older version.
alter table broadcasts add column if not exists urgent_shares jsonb;

-- How far the announced withdrawals of each network's channels were read. An older version looks at each channel alone.
create table if not exists channel_watches (
  network text primary key,
  next_block numeric(78, 0) not null,
  changed_at timestamptz not null default now()
);
