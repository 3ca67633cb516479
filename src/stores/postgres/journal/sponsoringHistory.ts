import type { Pool } from 'pg'
import { z } from 'zod'
import type { SponsoringHistory } from '../../../ports/sponsoringHistory.js'

// The conditions repeat those of the partial indexes word for word, which have an entry for nothing else.
export const readSponsoringHistory = `
  select exists (select from settlements
      where state = 'confirmed' and (network like 'ton:%' or network like 'tron:%')
        and network = $1 and payee_wallet = $2) as has_recipient_settled,
    exists (select from settlements
      where state = 'failed' and details @> '{"sponsored": true}'
        and network = $1 and payer_wallet = $3 and closed_at > $4
        and transaction is not null and reason = any($5)) as has_payer_failed`

const rows = z.tuple([z.object({ has_recipient_settled: z.boolean(), has_payer_failed: z.boolean() })])

export const createSponsoringHistory = (pool: Pool): SponsoringHistory => ({
  read: async ({ network, payer, payTo, reasons, since }) => {
    const result = await pool.query(readSponsoringHistory, [network, payTo, payer, since, reasons])
    const [record] = rows.parse(result.rows)
    return { hasRecipientSettled: record.has_recipient_settled, hasPayerFailed: record.has_payer_failed }
  },
})
