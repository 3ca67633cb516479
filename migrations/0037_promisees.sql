-- Whose promises a promised settlement counts among: a customer, or the address of those that are not proven. Null: the account.
alter table reservations add column promisee text;
