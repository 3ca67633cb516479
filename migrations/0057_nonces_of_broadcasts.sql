-- quittance: runs beside 0039
-- quittance: no transaction
-- One original for each nonce, as `broadcasts_one_per_nonce` has it, and also what `broadcasts_by_nonce` finds: with the
-- replacements, each under its own transaction.
create unique index concurrently broadcasts_of_nonce on broadcasts
  (network, signer, nonce, (case when replaces is null then '' else transaction end)) where signer is not null;
