-- quittance: runs beside 0039
-- Settings and a default that keep updates and new entries on pages that are written anyway: less log (WAL) of each payment.

-- Room for the next version of a row: an update on its own page logs what changed, and not the whole row. An answer makes its
-- row almost three times as long. These two are purged, after 30 days and after 24 hours.
alter table webhook_deliveries set (fillfactor = 60);
alter table idempotent_requests set (fillfactor = 33);
-- Settlements are kept: a page has room for one more version, which its rows use in turn when they become final.
alter table settlements set (fillfactor = 85);

-- Its rows were written to pages that are 90 % empty, and stay there. Postgres removes old versions from a page once less of it
-- is free than the fill factor leaves: with every update until now, and seldom from now on.
alter table settlement_totals set (fillfactor = 90);

-- Version 7 of RFC 9562: milliseconds, then random bits. Ids that are written together are neighbours in the index, so that
-- new ones need few of its pages. Random ids need another page each, and a checkpoint later each is logged as a whole.
create or replace function time_ordered_uuid() returns uuid language sql volatile parallel safe as $$
  select encode(set_bit(set_bit(overlay(uuid_send(gen_random_uuid())
    placing substring(int8send((extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
    52, 1), 53, 1), 'hex')::uuid
$$;
alter table webhook_deliveries alter column id set default time_ordered_uuid();
