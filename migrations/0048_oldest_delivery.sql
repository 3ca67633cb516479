-- quittance: runs beside 0039
-- quittance: no transaction
-- Age of the delivery that waits longest, however many wait: an operator looks at it when there are too many. It has an entry
-- for nothing else, and is built beside running instances: on a large table, create it before the upgrade with
-- `create index concurrently`, under this name.
create index concurrently webhook_deliveries_oldest on webhook_deliveries (created_at) where state = 'waiting';
