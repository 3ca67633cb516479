-- Amounts that tell payments apart where transfers carry no memo: each is one offer of one price.

alter table recipient_statements add column unique_amount boolean not null default false;

create table unique_amounts (
  network text collate "C" not null,
  -- As in `recipient_statements`.
  pay_to text collate "C" not null,
  -- In the network's normal form.
  asset text collate "C" not null,
  amount numeric not null,
  -- SHA-256 of the secret that the requirements carry.
  digest bytea not null check (length(digest) = 32),
  issued_at timestamptz not null,
  -- From then on the amount can be issued again.
  expires_at timestamptz not null,
  primary key (network, pay_to, asset, amount)
);
create index unique_amounts_by_expiry on unique_amounts (expires_at);
