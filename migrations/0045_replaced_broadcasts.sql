-- quittance: runs beside 0039
-- quittance: no transaction
-- What deletes a transaction looks for one that replaces it. Few are replaced.
create index concurrently broadcasts_replaced on broadcasts (network, replaces) where replaces is not null;
