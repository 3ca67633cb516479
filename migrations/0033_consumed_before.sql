-- What was consumed before the triggers of 0032, which record what is consumed from then on: payments do not wait. In the order
-- of the index, which is written once then.

insert into consumed_authorizations (digest, terms, settlement_id, consumed_at)
  select digest_authorization(s.authorization_id),
    digest_terms(s.authorization_id, s.caller, s.scheme, s.network, s.asset, s.payer, s.pay_to, s.amount,
      s.authorized_amount, s.details),
    s.id, coalesce(s.closed_at, now())
  from settlements s where is_consumed_for_good(s.state, s.consumed_by, s.block_hash, s.is_final)
  order by 1
  on conflict (digest) do nothing;
