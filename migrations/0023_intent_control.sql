-- Who controls an intent without an account, and until when a transfer pays an intent that was cancelled.

alter table intents
  -- SHA-256 of the token of an anonymous creator, as hex; null for accounts, and for rows of older versions.
  add column control_digest text,
  -- Set while a transfer from before the cancellation executes it.
  add column cancelled_at timestamptz;
