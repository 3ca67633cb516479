-- The account that made a hold, or `anonymous`. Null: made by a release that did not record it; such a hold keeps the rules
-- of that release, which may still run beside this one.
alter table reservations add column account text;
