-- Catalogue of resources whose settled payments declared the extension `bazaar`.

create table discovery_resources (
  id uuid primary key default gen_random_uuid(),
  url text not null,
  -- MCP servers: one row a tool; otherwise empty.
  tool_name text not null,
  type text not null check (type in ('http', 'mcp')),
  state text not null check (state in ('listed', 'stale', 'unlisted')),
  -- Null: owned by the recipients of its terms.
  account_id text,
  method text,
  version smallint not null check (version in (1, 2)),
  -- Type json: jsonb refuses \u0000, which untrusted JSON may contain.
  declaration json not null,
  terms json not null,
  -- Terms in one spelling, for filters: network, scheme, asset, payTo, amount.
  offers jsonb not null,
  extension_keys text[] not null,
  description text,
  mime_type text,
  service_name text,
  tags text[] not null,
  icon_url text,
  -- Words, and filters with a prefix that no word has.
  tokens text[] not null,
  payers integer not null default 0 check (payers >= 0),
  -- Constant between settlements, so that pages are index scans: last settlement in Unix seconds + 7 days for every
  -- doubling of the distinct payers.
  score bigint not null,
  first_settled_at timestamptz not null,
  last_settled_at timestamptz not null,
  owner_changed_at timestamptz,
  unique (url, tool_name)
) with (autovacuum_vacuum_scale_factor = 0.05);
create index discovery_resources_in_order on discovery_resources (score desc, id desc) where state = 'listed';
-- Without a pending list, which every search would read to its end.
create index discovery_resources_by_token on discovery_resources using gin (tokens) with (fastupdate = off)
  where state = 'listed';
create index discovery_resources_by_age on discovery_resources (state, last_settled_at);
create index discovery_resources_of_account on discovery_resources (account_id) where account_id is not null;

create table discovery_payers (
  resource_id uuid not null references discovery_resources (id) on delete cascade,
  payer text not null,
  primary key (resource_id, payer)
);
create index discovery_payers_by_payer on discovery_payers (payer);

-- Recipients of all resources of an account: as payers they do not count.
create table discovery_recipients (
  account_id text not null,
  pay_to text not null,
  primary key (account_id, pay_to)
);
