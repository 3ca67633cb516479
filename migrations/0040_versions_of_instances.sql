-- quittance: runs beside 0039
-- The newest migration that the version of an instance has: a migration that older versions cannot run beside is not applied
-- while such an instance lives. Null: a version from before this column, which has 0039 at most.
alter table instances add column if not exists newest_migration integer;
