-- What recipients of payments that clients make themselves have stated about claims: applied to every caller, whatever its
-- request says.

create table recipient_statements (
  network text collate "C" not null,
  -- In the network's normal form.
  pay_to text collate "C" not null,
  -- The account that proved the wallet of the recipient.
  account_id uuid not null,
  memo boolean not null,
  signed_claim boolean not null,
  own_key boolean not null,
  stated_at timestamptz not null default now(),
  primary key (network, pay_to)
);
create index recipient_statements_of_account on recipient_statements (account_id, stated_at);
