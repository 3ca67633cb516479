import type { Pool, PoolClient } from 'pg'
import type { FoundDifferences, Period } from '../../../ports/reconciliation.js'
import { type DifferenceRow, readDifferences } from './readDifferences.js'

// Transactions that are signed at once are not recorded in the order of their nonces, and a nonce that a dead process left
// is filled later.
const fillTime = "interval '10 minutes'"

const differences = `
  (select 'settlement_missing' as kind, d.settlement_id::text as subject, d.account_id, d.data ->> 'network' as network,
    d.settlement_id::text, 'none' as expected, d.type as actual
  from webhook_deliveries d
  where d.created_at >= $1 and d.created_at < $2 and d.settlement_id is not null
    and not exists (select 1 from settlements s where s.id = d.settlement_id))
  union all
  -- Nonces without a record, from the last recorded one to one that was recorded in the period.
  (select 'transaction_unrecorded', b.signer, null, b.network, null, 'none',
    case b.nonce - p.nonce when 2 then (b.nonce - 1)::text else concat_ws(' to ', p.nonce + 1, b.nonce - 1) end
  from (
    select distinct network, signer, nonce from broadcasts
    where signer is not null and recorded_at >= $1 and recorded_at < $2 and recorded_at < now() - ${fillTime}) b,
    lateral (
      select max(nonce) as nonce from broadcasts
      where network = b.network and signer = b.signer and nonce < b.nonce) p
  where p.nonce < b.nonce - 1)`

/** What the journal should have by other records: settlements by their events, transactions by the nonces around them. */
export const findMissingRows = (client: Pool | PoolClient, { from, to }: Period): Promise<FoundDifferences> =>
  readDifferences(client, { sql: differences, values: [from, to], describe })

const describe = ({ kind, subject, actual, network }: DifferenceRow): string =>
  kind === 'settlement_missing'
    ? `The journal has no settlement ${subject}; there is its event ${actual}`
    : `The journal has no transaction of ${subject} on ${network} with nonce ${actual}`
