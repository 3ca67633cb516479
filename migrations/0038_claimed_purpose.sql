-- What a database is for is decided by its first settlement, account, stream, intent or consumed authorization, no longer by
-- the first start. Until then the instances that run on it are of one kind: each looks for those of the other kind when it
-- starts.

-- Null: a version from before this migration. One is admitted when it has found no instance of the other kind: only those
-- serve, so that what serves is of one kind.
alter table instances add column if not exists is_sandbox boolean,
  add column if not exists is_admitted boolean not null default false;

-- A start without anything to keep claimed it. Beside a running instance it stays: that one relies on it.
delete from database_purpose
  where not exists (select from settlements) and not exists (select from accounts)
    and not exists (select from streams) and not exists (select from intents)
    and not exists (select from consumed_authorizations)
    and not exists (select from instances where seen_at > now() - interval '1 minute');
insert into database_purpose (is_sandbox)
  select false where exists (select from settlements) or exists (select from accounts)
    or exists (select from streams) or exists (select from intents)
    or exists (select from consumed_authorizations)
  on conflict do nothing;

-- With the search path of the migration: roles that write may have another one.
create or replace function claim_purpose() returns trigger language plpgsql set search_path from current as $$
begin
  if exists (select from database_purpose) then
    return null;
  end if;
  -- A statement that inserts nothing claims nothing.
  if exists (select from settlements) or exists (select from accounts)
    or exists (select from streams) or exists (select from intents)
    or exists (select from consumed_authorizations) then
    insert into database_purpose (is_sandbox)
      values (coalesce((select is_sandbox from instances where is_admitted order by seen_at desc limit 1),
        current_database() like '%\_sandbox'))
      on conflict do nothing;
  end if;
  return null;
end $$;

create or replace trigger settlements_claim_purpose after insert on settlements
  for each statement execute function claim_purpose();
create or replace trigger accounts_claim_purpose after insert on accounts
  for each statement execute function claim_purpose();
create or replace trigger streams_claim_purpose after insert on streams
  for each statement execute function claim_purpose();
create or replace trigger intents_claim_purpose after insert on intents
  for each statement execute function claim_purpose();
create or replace trigger consumed_authorizations_claim_purpose after insert on consumed_authorizations
  for each statement execute function claim_purpose();

-- An instance that stopped for so long that one of the other kind was admitted. Its settlements must not stand beside theirs.
create or replace function refuse_other_purpose() returns trigger language plpgsql set search_path from current as $$
begin
  if exists (select from added join instances on instances.id = added.owner
    join database_purpose on database_purpose.is_sandbox <> instances.is_sandbox) then
    raise exception 'The database is for the other kind of payments' using errcode = 'check_violation';
  end if;
  return null;
end $$;

-- Triggers run in the order of their names: after the one that claims.
create or replace trigger settlements_refuse_other_purpose after insert on settlements
  referencing new table as added for each statement execute function refuse_other_purpose();
