-- What the nightly comparison of journal, chain, events, quotas and fees found. One row for each day, UTC.
create table nightly_reconciliations (
  day date primary key,
  -- Last settlement of the pages that were compared.
  cursor uuid,
  settlements bigint not null,
  unchecked bigint not null,
  differences bigint not null,
  -- The first differences.
  listed jsonb not null,
  started_at timestamptz not null default now(),
  finished_at timestamptz
);

-- The last batch of each process that counts requests: a batch whose answer was lost is not counted twice.
create table request_batches (
  source uuid primary key,
  sequence bigint not null,
  written_at timestamptz not null default now()
);
