-- Why a request with an Idempotency-Key failed permanently; null for requests that failed before this column existed.
alter table idempotent_requests add column reason text;
alter table idempotent_requests add check (reason is null or state = 'failed');
