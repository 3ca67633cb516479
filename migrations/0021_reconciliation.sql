-- What the nightly comparison of journal, chain, events, quotas, fees and counters found. One row for each night, named by
-- the last of the days that it compared, UTC.
create table nightly_reconciliations (
  day date primary key,
  -- Last settlement of the pages that were compared.
  cursor uuid,
  are_pages_compared boolean not null,
  -- Counters that were compared with a recount.
  counted text[] not null,
  -- Until then, one instance compares a counter.
  counting_until timestamptz,
  settlements bigint not null,
  open bigint not null,
  unchecked bigint not null,
  waiting bigint not null,
  -- Differences: how many of each kind, and the first of each.
  counts jsonb not null,
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
