-- quittance: runs beside 0039
-- It is the other way round for settlements: a transaction carries those that the same statement has locked, and before a
-- settlement is deleted its transactions are. A check would read the whole table, or need another index.
alter table broadcast_settlements drop constraint if exists broadcast_settlements_settlement_id_fkey;
