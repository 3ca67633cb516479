-- One authorization earns one success, also after its row was changed, deleted, or lost with a restored backup: the digests of
-- authorizations that earned theirs for good are kept beside the journal, and are only ever added.

-- Also what reconciliation compares digests with. convert_to is stable, and sees only the encoding of the database.
create function digest_authorization(authorization_id text) returns bytea language sql stable parallel safe
  as $$ select sha256(convert_to(authorization_id, 'UTF8')) $$;

-- The columns that never change after the claim.
create function digest_terms(authorization_id text, caller text, scheme text, network text, asset text, payer text,
  pay_to text, amount numeric, authorized_amount numeric, details jsonb) returns bytea language sql stable parallel safe
  as $$ select sha256(convert_to(json_build_array(authorization_id, caller, scheme, network, asset, payer, pay_to, amount,
    authorized_amount, details)::text, 'UTF8')) $$;

-- A success that was answered, and a payment that no reorg can take back, are never undone. Without them, a settlement whose
-- block is orphaned can fail, and its authorization can be settled again.
create function is_consumed_for_good(state text, consumed_by text, block_hash text, is_final boolean) returns boolean
  language sql immutable parallel safe
  as $$ select consumed_by is not null or (state = 'confirmed' and (block_hash is null or is_final)) $$;

create table consumed_authorizations (
  digest bytea primary key check (length(digest) = 32),
  terms bytea not null check (length(terms) = 32),
  -- Without a foreign key: it stays when the settlement is lost.
  settlement_id uuid not null,
  consumed_at timestamptz not null default now()
) with (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02);

-- Of the order in which rows are added: a few bytes for each megabyte.
create index consumed_authorizations_by_time on consumed_authorizations using brin (consumed_at);

create function record_consumed_authorization() returns trigger language plpgsql as $$
begin
  insert into consumed_authorizations (digest, terms, settlement_id)
    values (digest_authorization(new.authorization_id),
      digest_terms(new.authorization_id, new.caller, new.scheme, new.network, new.asset, new.payer, new.pay_to, new.amount,
        new.authorized_amount, new.details),
      new.id)
    on conflict (digest) do nothing;
  return null;
end $$;

create function refuse_change_of_consumed() returns trigger language plpgsql as $$
begin
  raise exception 'consumed_authorizations is append-only';
end $$;

-- An update that leaves the columns of the second condition as they are calls no function.
create trigger settlements_consumed after update on settlements for each row
  when (is_consumed_for_good(new.state, new.consumed_by, new.block_hash, new.is_final)
    and not is_consumed_for_good(old.state, old.consumed_by, old.block_hash, old.is_final))
  execute function record_consumed_authorization();
create trigger settlements_inserted_consumed after insert on settlements for each row
  when (is_consumed_for_good(new.state, new.consumed_by, new.block_hash, new.is_final))
  execute function record_consumed_authorization();
create trigger consumed_authorizations_append_only before update or delete or truncate on consumed_authorizations
  for each statement execute function refuse_change_of_consumed();
