-- Limits and the quota count customers. Whoever registers can name any mailbox, so an account is its mailbox's only if its key
-- was sent there, or if an operator vouched for it.
alter table accounts
  -- Null: registered by an older version.
  add column is_proven boolean,
  -- Which accounts of a mailbox that nobody proved are one customer: an HMAC of the mailbox and the network that registered
  -- them. Null: the account alone.
  add column registrant text,
  -- Whether an operator granted its tier, which the name of the tier does not tell: the tier of new accounts is a setting.
  add column is_granted boolean not null default false;

-- The audit log shows grants, and registrations without one, but forgets them. What is older than its entries has the tier of
-- new accounts of the specification, or one that was granted. Where TIERS names another one for new accounts, such an old
-- account counts as granted, too: then it is a customer alone, and uses up nothing of others.
update accounts a set is_granted = true
where tier <> 'free' and (
  exists (select from audit_log l where l.account_id = a.id and l.action = 'tier.changed')
  or not exists (select from audit_log l where l.account_id = a.id and l.action = 'account.registered'));
