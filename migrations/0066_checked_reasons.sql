-- quittance: runs beside 0039
-- It reads the journal once. Payments do not wait for it.
alter table settlements validate constraint settlements_reason;
