-- Limits and the quota count customers. Whoever registers can name any mailbox, so an account is its mailbox's only if its key
-- was sent there, or if an operator vouched for it.
alter table accounts
  -- Null: registered by an older version.
  add column is_proven boolean,
  -- Which accounts of a mailbox that nobody proved are one customer: an HMAC of the mailbox and the network that registered
  -- them. Null: all of the mailbox.
  add column registrant text;

-- Whose promises a promised settlement counts among: a customer, or the address of those that are not proven. Null: the account.
alter table reservations add column promisee text;
