-- What a resource says of itself, in its own 402 answer or at its host: { resource, offers, at }.
-- Type json: jsonb refuses \u0000, which untrusted JSON may contain.
alter table discovery_resources add column stated json;

-- Older versions asked by POST, and of a route template at one path below it: those answers no longer count.
delete from discovery_challenges;
alter table discovery_challenges drop column method;
-- Who settled: challenges take turns by it.
alter table discovery_challenges add column claimant text not null;
create index discovery_challenges_of_claimant on discovery_challenges (claimant, due_at) where state = 'waiting';
