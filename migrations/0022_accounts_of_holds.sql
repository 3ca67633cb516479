-- The account that made a hold, or `anonymous`. Null: made by a release that did not record it; such a hold keeps the rules
-- of that release, which may still run beside this one.
alter table reservations add column account text;

-- A statement sees no hold that was committed after it began. This function first locks the authorizations of `locked`, as
-- every hold does, and then reads with a snapshot of its own, as volatile functions do. So a claim that calls it sees the
-- hold, or the hold sees the claim. Locks are taken in one global order.
create function find_holds(ids text[], locked text[])
returns table (authorization_id text, account text, holder text, asset text, pay_to text, reserved_at timestamptz,
  expires_at timestamptz)
language plpgsql volatile rows 10 as $$
declare
  key bigint;
begin
  for key in select distinct hashtextextended(id, 13) from unnest(locked) as l (id) order by 1 loop
    perform pg_advisory_xact_lock(key);
  end loop;
  return query
    select r.authorization_id, r.account, r.holder, r.asset, r.pay_to, r.reserved_at, r.expires_at
    from reservations r where r.authorization_id = any(ids);
end $$;
