-- What a resource says of itself, in its own 402 answer or at its host: { resource, recipients, offers, at }.
-- Type json: jsonb refuses \u0000, which untrusted JSON may contain.
alter table discovery_resources add column stated json;
-- Both tables are locked whole, in the order of settlements, before a row is: the other order could deadlock with them.
-- `method` is read by older versions alone, which run beside this one during an upgrade.
-- `claimant` is who settled: challenges take turns by it. Older versions name nobody.
alter table discovery_challenges
  alter column method set default 'GET',
  add column claimant text not null default '';

-- Older versions asked by POST, and of a route template at one path below it: those answers no longer count.
delete from discovery_challenges;
-- Whose turn it is at a host.
create index discovery_challenges_served on discovery_challenges (host, claimant, answered_at) where state = 'answered';
create index discovery_challenges_of_claimant on discovery_challenges (claimant, due_at) where state = 'waiting';
