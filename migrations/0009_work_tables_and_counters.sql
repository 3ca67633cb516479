-- What is polled or shown must not grow with the journal: open and unfinal settlements are listed in small tables, which
-- are vacuumed in milliseconds, and totals are counted as the journal changes. Triggers keep them, so that they cannot
-- disagree with the journal, also while a process of an older version still writes.

-- Writers wait from here to the end of this file: what is counted below is what the triggers continue from.
lock table settlements in share row exclusive mode;

create table open_settlements (
  settlement_id uuid primary key
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);

-- Confirmed payments whose block can still be orphaned; the key lists the blocks of a network in order.
create table unfinal_settlements (
  network text collate "C" not null,
  block_number bigint not null,
  block_hash text collate "C" not null,
  settlement_id uuid not null,
  scheme text not null,
  primary key (network, block_number, block_hash, settlement_id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 10000);

-- The sum over all slots counts. A connection writes the slot of its process, so that concurrent statements do not wait
-- for each other. Half-empty pages keep the updates out of the index.
create table settlement_totals (
  slot integer primary key,
  opened bigint not null default 0,
  confirmed bigint not null default 0,
  failed bigint not null default 0
) with (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);

-- Settlements that an account opened on a day, UTC, and that have not failed.
create table account_days (
  account_id text not null,
  day date not null,
  count bigint not null,
  primary key (account_id, day)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);

insert into open_settlements select id from settlements where state in ('claimed', 'pending');
insert into unfinal_settlements
  select network, block_number, block_hash, id, scheme from settlements where block_hash is not null and not is_final;
insert into settlement_totals (slot) select generate_series(0, 63);
update settlement_totals t set opened = s.opened, confirmed = s.confirmed, failed = s.failed from (
  select count(*) as opened, count(*) filter (where state = 'confirmed') as confirmed,
    count(*) filter (where state = 'failed') as failed from settlements) s
where t.slot = 0;
insert into account_days
  select caller, (created_at at time zone 'utc')::date, count(*) from settlements
  where caller <> 'anonymous' and state <> 'failed' group by 1, 2;

-- Plans are cached while these tables are empty; without the setting they would scan them when they are full.
create function track_opened_settlements() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  opened_rows bigint; open_rows bigint; confirmed_rows bigint; failed_rows bigint; unfinal_rows bigint;
  account_rows bigint;
begin
  select count(*), count(*) filter (where state in ('claimed', 'pending')), count(*) filter (where state = 'confirmed'),
    count(*) filter (where state = 'failed'), count(*) filter (where block_hash is not null and not is_final),
    count(*) filter (where caller <> 'anonymous' and state <> 'failed')
  into opened_rows, open_rows, confirmed_rows, failed_rows, unfinal_rows, account_rows from new_rows;
  if opened_rows = 0 then return null; end if;
  if open_rows > 0 then
    insert into open_settlements select id from new_rows where state in ('claimed', 'pending') on conflict do nothing;
  end if;
  if unfinal_rows > 0 then
    insert into unfinal_settlements
      select network, block_number, block_hash, id, scheme from new_rows where block_hash is not null and not is_final
    on conflict do nothing;
  end if;
  if account_rows > 0 then
    insert into account_days as a
      select caller, (created_at at time zone 'utc')::date, count(*) from new_rows
      where caller <> 'anonymous' and state <> 'failed' group by 1, 2 order by 1, 2
    on conflict (account_id, day) do update set count = a.count + excluded.count;
  end if;
  update settlement_totals set opened = opened + opened_rows, confirmed = confirmed + confirmed_rows,
    failed = failed + failed_rows where slot = pg_backend_pid() % 64;
  return null;
end $$;

create function track_changed_settlements() returns trigger language plpgsql set enable_seqscan = off as $$
declare
  was record;
  becomes record;
begin
  select count(*) filter (where state = 'confirmed') as confirmed, count(*) filter (where state = 'failed') as failed,
    count(*) filter (where state in ('claimed', 'pending')) as open, count(*) as rows,
    count(*) filter (where block_hash is not null and not is_final) as unfinal into was from old_rows;
  select count(*) filter (where state = 'confirmed') as confirmed, count(*) filter (where state = 'failed') as failed,
    count(*) filter (where state in ('claimed', 'pending')) as open, count(*) as rows,
    count(*) filter (where block_hash is not null and not is_final) as unfinal into becomes from new_rows;
  if was.open > 0 and becomes.open < becomes.rows then
    delete from open_settlements where settlement_id = any(array(
      select id from new_rows where state in ('confirmed', 'failed')));
  end if;
  if was.open < was.rows and becomes.open > 0 then
    insert into open_settlements select id from new_rows where state in ('claimed', 'pending') on conflict do nothing;
  end if;
  if was.unfinal > 0 then
    delete from unfinal_settlements u using (
      select network, block_number, block_hash, id from old_rows where block_hash is not null and not is_final
      except
      select network, block_number, block_hash, id from new_rows where block_hash is not null and not is_final) o
    where (u.network, u.block_number, u.block_hash, u.settlement_id) = (o.network, o.block_number, o.block_hash, o.id);
  end if;
  if becomes.unfinal > 0 then
    insert into unfinal_settlements
      select network, block_number, block_hash, id, scheme from new_rows where block_hash is not null and not is_final
    on conflict do nothing;
  end if;
  if was.failed > 0 or becomes.failed > 0 then
    insert into account_days as a
      select caller, (created_at at time zone 'utc')::date, sum(change) from (
        select caller, created_at, 1 as change from new_rows where caller <> 'anonymous' and state <> 'failed'
        union all
        select caller, created_at, -1 from old_rows where caller <> 'anonymous' and state <> 'failed') c
      group by 1, 2 having sum(change) <> 0 order by 1, 2
    on conflict (account_id, day) do update set count = a.count + excluded.count;
  end if;
  if was.confirmed <> becomes.confirmed or was.failed <> becomes.failed then
    update settlement_totals set confirmed = confirmed + becomes.confirmed - was.confirmed,
      failed = failed + becomes.failed - was.failed where slot = pg_backend_pid() % 64;
  end if;
  return null;
end $$;

create function track_truncated_settlements() returns trigger language plpgsql as $$
begin
  truncate open_settlements, unfinal_settlements, account_days;
  update settlement_totals set opened = 0, confirmed = 0, failed = 0;
  return null;
end $$;

create trigger settlements_opened after insert on settlements
  referencing new table as new_rows for each statement execute function track_opened_settlements();
create trigger settlements_changed after update on settlements
  referencing old table as old_rows new table as new_rows
  for each statement execute function track_changed_settlements();
create trigger settlements_truncated after truncate on settlements
  for each statement execute function track_truncated_settlements();

-- Replaced by the small tables: in an index of the journal, the entries of what is done stay until the whole journal is
-- vacuumed. Without them a payment that becomes final is updated in its page.
drop index settlements_open;
drop index settlements_unfinal;

-- Every filter of a listing is a prefix, and the newest rows of each prefix are merged.
create index if not exists settlements_of_account on settlements (caller, network, state, created_at desc, id desc)
  where caller <> 'anonymous';
drop index settlements_by_account;
create index if not exists settlements_closed_by_network on settlements (state, network, created_at desc, id desc)
  where state in ('confirmed', 'failed');
drop index settlements_closed;

alter table settlements set (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02,
  autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table broadcasts set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);
alter table idempotent_requests set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
alter table signer_lanes set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
alter table quota_uses set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
alter table instances set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
alter table request_statistics set (fillfactor = 50, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
alter table webhook_deliveries set (autovacuum_vacuum_scale_factor = 0.01, autovacuum_analyze_scale_factor = 0.02);

-- Waiting deliveries that are due, or were when they were last looked at. Those of a later time are moved here when it
-- comes: what is polled has one entry for each delivery that can be sent, whatever else waits.
alter table webhook_deliveries add column is_ready boolean not null default true;
create index webhook_deliveries_ready on webhook_deliveries (account_id, due_at) where state = 'waiting' and is_ready;
create index webhook_deliveries_later on webhook_deliveries (due_at) where state = 'waiting' and not is_ready;
drop index webhook_deliveries_due;
-- Of an account, for those that end its deliveries at once.
create index webhook_deliveries_waiting on webhook_deliveries (account_id) where state = 'waiting';
-- What the purge deletes.
create index webhook_deliveries_ended on webhook_deliveries (created_at) where state <> 'waiting';

-- Which instance does a job that is done once for all of them.
create table job_leases (
  job text primary key,
  holder uuid not null,
  expires_at timestamptz not null
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
  autovacuum_vacuum_cost_delay = 0);
