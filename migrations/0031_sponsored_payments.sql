-- What decides whether the facilitator pays for a payment: who was paid before, and whose sponsored payment failed. Only on
-- the families that sponsor payers, so that settlements of all others write no more index entries than before.

create index if not exists settlements_of_sponsored_payee on settlements (network, payee_wallet)
  where state = 'confirmed' and (network like 'ton:%' or network like 'tron:%');

create index if not exists settlements_of_sponsored_payer on settlements (network, payer_wallet, state, closed_at)
  where details @> '{"sponsored": true}';
