-- One mailbox is one identity for limits and the free quota; an account has several keys with scopes and expiry; every
-- change to keys, webhooks, restrictions and tiers is recorded.

create table mailboxes (
  id uuid primary key default gen_random_uuid(),
  -- Lower case, NFKC, the domain in ASCII (IDNA), without +tag.
  mailbox text not null unique,
  -- The part of the domain that its owner registered: caps are counted over all of its subdomains.
  domain text not null,
  created_at timestamptz not null default now()
);
create index mailboxes_by_domain on mailboxes (domain);

-- Null for addresses of older versions that SQL cannot convert: the service fills them in when it starts.
alter table accounts add column mailbox_id uuid references mailboxes (id);
create index accounts_by_mailbox on accounts (mailbox_id);

with ascii as (
  select id, regexp_replace(lower(email collate "C"), '^([^+@]+)\+[^@]*@', '\1@') as mailbox
  from accounts where email ~ '^[\x21-\x7e]+$'
), added as (
  insert into mailboxes (mailbox, domain)
  select distinct mailbox, substring(mailbox from '(?:[^.@]+\.[^.@]{1,3}\.[a-z]{2}|[^.@]+\.[^.@]+)$') from ascii
  returning id, mailbox
)
update accounts a set mailbox_id = added.id
from ascii join added using (mailbox) where a.id = ascii.id;

-- Whose quota row a settlement is charged to: the account, or the mailbox that its free projects share. Null in rows of
-- older versions: the caller.
alter table settlements add column quota_holder text;
insert into quota_uses (account_id, month, used)
  select a.mailbox_id::text, q.month, sum(q.used)
  from quota_uses q join accounts a on a.id::text = q.account_id
  where a.tier = 'free' and a.mailbox_id is not null
    and q.month = date_trunc('month', now() at time zone 'utc')::date
  group by a.mailbox_id, q.month;

alter table api_keys
  add column public_id uuid not null default gen_random_uuid(),
  add column name text not null default 'Default' check (length(name) between 1 and 100),
  add column scopes text[] not null default '{verify,settle,read,manage}'
    check (cardinality(scopes) > 0 and scopes <@ array['verify', 'settle', 'read', 'manage']),
  -- The key that registration returned, and what replaced it.
  add column is_primary boolean not null default true,
  add column expires_at timestamptz,
  add column last_used_at timestamptz;
create unique index api_keys_by_public_id on api_keys (public_id);
-- `retiring`: replaced, but valid until it expires.
alter table api_keys drop constraint api_keys_status_check;
alter table api_keys add constraint api_keys_status_check
  check (status in ('active', 'retiring', 'rotated', 'revoked') and (status <> 'retiring' or expires_at is not null));
drop index api_keys_one_active_per_account;
create unique index api_keys_one_active_per_account on api_keys (account_id) where status = 'active' and is_primary;

-- Not for `last_used_at`, which changes nothing that instances remember.
drop trigger api_keys_announce on api_keys;
create trigger api_keys_announce
  after delete or update of account_id, fingerprint, status, name, scopes, is_primary, expires_at on api_keys
  for each row execute function announce_account('account_id');

-- No foreign key: entries outlive what they describe.
create table audit_log (
  id uuid primary key default gen_random_uuid(),
  account_id uuid not null,
  created_at timestamptz not null default clock_timestamp(),
  action text not null,
  actor text not null,
  -- Null: an operator's command.
  address text,
  details jsonb not null default '{}' check (jsonb_typeof(details) = 'object')
);
create index audit_log_of_account on audit_log (account_id, created_at desc, id desc);
create index audit_log_by_age on audit_log (created_at);
