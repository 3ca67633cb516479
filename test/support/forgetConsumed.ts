/** Empties `consumed_authorizations`, which is append-only, for tests that use an authorization again. */
export const forgetConsumed = `do $$ begin
  if exists (select from consumed_authorizations) then
    alter table consumed_authorizations disable trigger user;
    delete from consumed_authorizations;
    alter table consumed_authorizations enable trigger user;
  end if;
end $$`
