import type { Pool } from 'pg'

// An account without a share left is named all the same: where the others have spent their parts, it pays for all of it.
const hurry = `
  with sent as (
    select b.network, b.transaction, b.urgent_shares from broadcasts b join broadcast_settlements s using (network, transaction)
    where s.settlement_id = $1 and b.signer is not null order by b.transaction for update of b
  ), unpaid as (
    select network, transaction, greatest(0, 1 - coalesce(
      (select sum((value ->> 'share')::float8) from jsonb_array_elements(urgent_shares)), 0)) as share from sent
  )
  update broadcasts b
  set urgent_shares = coalesce(b.urgent_shares, '[]') || jsonb_build_object('account', $2::text, 'share', u.share)
  from unpaid u where b.network = u.network and b.transaction = u.transaction
    and (u.share > 0 or not b.urgent_shares @> jsonb_build_array(jsonb_build_object('account', $2::text)))`

/**
 * Has replacements of a settlement's transactions paid by what an account may draw for urgent work. What others of a shared
 * transaction were to pay counts as well, since it is replaced as a whole or not at all.
 */
export const hurrySettlement = async (
  pool: Pool,
  { settlementId, accountId }: { readonly settlementId: string; readonly accountId: string },
): Promise<void> => {
  await pool.query(hurry, [settlementId, accountId])
}
