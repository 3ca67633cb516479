/** Undoes `0012_reservations.sql`, for tests of upgrades. */
export const withoutReservations = `
  drop table reservations;
  drop index settlements_failed;
  delete from schema_migration where name like '%_reservations.sql'`
