-- Settlements for a listed resource by another recipient: the resource is asked whom it wants paid.

create table discovery_challenges (
  resource_id uuid not null references discovery_resources (id) on delete cascade,
  network text not null,
  -- In the spelling of discovery_resources.offers.
  pay_to text not null,
  -- What is requested.
  url text not null,
  host text not null,
  method text not null check (method in ('GET', 'POST', 'PUT', 'PATCH')),
  state text not null check (state in ('waiting', 'answered')),
  -- Waiting: when it is probed.
  due_at timestamptz not null,
  -- Answered: [{ network, payTo }] of the answer, or null and what was seen.
  -- Type json: jsonb refuses \u0000, which untrusted JSON may contain.
  recipients json,
  problem text,
  answered_at timestamptz,
  primary key (resource_id, network, pay_to),
  check ((state = 'answered') = (answered_at is not null))
);
create index discovery_challenges_due on discovery_challenges (due_at) where state = 'waiting';
create index discovery_challenges_of_host on discovery_challenges (host, due_at) where state = 'waiting';
create index discovery_challenges_answered on discovery_challenges (answered_at) where state = 'answered';
