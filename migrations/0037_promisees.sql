alter table reservations
  -- Whose part of a budget a promised settlement uses: a customer's, or that of the address of those that are not proven. Null:
  -- the account's.
  add column promisee text,
  -- Null: the promisee.
  add column promised_customer text;
