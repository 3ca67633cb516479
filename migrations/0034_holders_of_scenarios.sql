-- Who made a scenario: its address or IPv6 network, the site around it, and its account. Each may hold a share of the live
-- ones. Older versions write none.
alter table sandbox_scenarios add column holders text[] not null default '{}';
