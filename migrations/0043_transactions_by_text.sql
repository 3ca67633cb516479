-- quittance: runs beside 0039
-- `settlements_of_transaction` finds the same.
drop index if exists settlements_by_transaction;
