-- Whether the settlement of what is held was promised: its gas is kept from new work. The release before this one, which may
-- run beside it, promises nothing.
alter table reservations add column is_promised boolean not null default false;

create index reservations_promised on reservations (network) where is_promised;
