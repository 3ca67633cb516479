-- quittance: runs beside 0039
-- quittance: no transaction
-- Settlements are looked up by a whole transaction only. A hash index keeps four bytes of each, where the old index kept the
-- texts of network and transaction. Older versions, which may still run, read it with the same statements.
create index concurrently settlements_of_transaction on settlements using hash (transaction) where transaction is not null;
