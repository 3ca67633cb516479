-- One transaction may settle several payments, a stuck one may be replaced, and one process looks after each lane.

-- Which settlements a transaction carries: one when it goes alone, many in a batch, none when it only fills a gap.
create table broadcast_settlements (
  network text not null,
  transaction text not null,
  settlement_id uuid not null references settlements (id),
  primary key (network, transaction, settlement_id),
  foreign key (network, transaction) references broadcasts (network, transaction)
);
insert into broadcast_settlements (network, transaction, settlement_id)
  select network, transaction, settlement_id from broadcasts;
alter table broadcasts drop column settlement_id;

-- A replacement has the number and the calldata of what it replaces, and only a higher fee: at most one is mined.
alter table broadcasts add column replaces text;
alter table broadcasts add foreign key (network, replaces) references broadcasts (network, transaction);
alter table broadcasts add check (replaces is null or signer is not null);
drop index broadcasts_one_per_nonce;
create unique index broadcasts_one_per_nonce on broadcasts (network, signer, nonce)
  where signer is not null and replaces is null;
create index broadcasts_by_nonce on broadcasts (network, signer, nonce) where signer is not null;

-- Who looks after a lane: fills its gaps and replaces what is stuck. Numbers are drawn under the row's lock by anyone.
alter table signer_lanes add column holder uuid;
alter table signer_lanes add column lease_expires_at timestamptz;
