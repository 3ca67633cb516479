-- quittance: runs beside 0039
-- quittance: no transaction
-- Age of the delivery that waits longest, however many wait: an operator looks at it when there are too many. It has an entry
-- for nothing else.
create index concurrently webhook_deliveries_oldest on webhook_deliveries (created_at) where state = 'waiting';
