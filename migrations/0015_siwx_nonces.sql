-- Nonces of accepted wallet sign-ins. The key is the SHA-256 of domain and nonce: one size, whatever servers choose.

create table siwx_nonces (
  digest bytea primary key check (length(digest) = 32),
  -- Until then a message with the nonce could be accepted again.
  expires_at timestamptz not null
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
create index siwx_nonces_by_expiry on siwx_nonces (expires_at);
