-- When the settlement of what is held was promised: its gas is kept from new work. The release before this one, which may
-- run beside it, promises nothing.
alter table reservations add column promised_at timestamptz;

create index reservations_promised on reservations (network) where promised_at is not null;
