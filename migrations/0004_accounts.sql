-- Who may use the service: an account is one project of one e-mail address and outlives its keys.

create table accounts (
  id uuid primary key,
  -- As it was first registered.
  email text not null check (length(email) between 3 and 254),
  project text not null check (length(project) between 1 and 100),
  tier text not null default 'free' check (tier in ('free', 'builder', 'scale', 'enterprise')),
  status text not null default 'active' check (status in ('active', 'revoked')),
  -- Null: every address, every referring host.
  allowed_ips text[] check (cardinality(allowed_ips) between 1 and 100),
  allowed_ref text[] check (cardinality(allowed_ref) between 1 and 100),
  created_at timestamptz not null default now()
);
-- This index decides who of many registers first. Only A to Z lose their case, in every locale alike: other
-- letters have look-alikes among their capitals (the Kelvin sign is no k), and those are other addresses.
create unique index accounts_one_per_project on accounts (lower(email collate "C"), project);
create index accounts_by_age on accounts (created_at, id);

create table api_keys (
  id bigint generated always as identity primary key,
  account_id uuid not null references accounts (id),
  fingerprint bytea not null unique,
  sealed bytea not null,
  status text not null default 'active' check (status in ('active', 'rotated', 'revoked')),
  created_at timestamptz not null default now()
);
create unique index api_keys_one_active_per_account on api_keys (account_id) where status = 'active';
create index api_keys_of_account on api_keys (account_id, id desc);

-- With which secret the keys are sealed, as a mark that does not tell it: nobody seals with another one.
create table sealing_secret (
  is_only boolean primary key default true check (is_only),
  mark bytea not null
);

-- Whoever changes a row, also by hand: every instance that remembers the account hears of it.
create function announce_account() returns trigger language plpgsql as $$
begin
  perform pg_notify('account_changed', to_jsonb(old) ->> tg_argv[0]);
  return null;
end $$;
create trigger accounts_announce after update or delete on accounts
  for each row execute function announce_account('id');
create trigger api_keys_announce after update or delete on api_keys
  for each row execute function announce_account('account_id');
