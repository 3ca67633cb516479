/** Empties `consumed_authorizations`, which is append-only, for tests that use an authorization again. */
export const forgetConsumed = `
  alter table consumed_authorizations disable trigger user;
  truncate consumed_authorizations;
  alter table consumed_authorizations enable trigger user`
