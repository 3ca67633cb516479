-- A transaction that holds the lock of one authorization, because its process stands still for instance, must not keep all
-- claims of a statement waiting.
alter function find_holds(text[], text[]) set lock_timeout = '1s';
