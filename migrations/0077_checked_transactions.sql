-- quittance: runs beside 0066
-- It reads the journal once. Payments do not wait for it.
alter table settlements validate constraint settlements_sent;
