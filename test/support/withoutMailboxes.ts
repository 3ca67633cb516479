/** Undoes `0010_mailboxes_and_keys.sql`, for tests of its upgrade. */
export const withoutMailboxes = `
  drop table audit_log;
  drop trigger api_keys_announce on api_keys;
  alter table api_keys drop column public_id, drop column name, drop column scopes, drop column is_primary,
    drop column expires_at, drop column last_used_at;
  alter table api_keys add constraint api_keys_status_check check (status in ('active', 'rotated', 'revoked'));
  create unique index api_keys_one_active_per_account on api_keys (account_id) where status = 'active';
  create trigger api_keys_announce after update or delete on api_keys
    for each row execute function announce_account('account_id');
  alter table accounts drop column mailbox_id;
  drop table mailboxes;
  alter table settlements drop column quota_holder;
  delete from schema_migration where name like '%_mailboxes_and_keys.sql'`
