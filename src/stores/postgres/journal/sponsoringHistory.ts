import type { Pool } from 'pg'
import { z } from 'zod'
import type { SponsoringHistory } from '../../../ports/settlementOverview.js'

// A wallet that signs two payments at once loses one of them, and has paid for the other: failures count beyond what was
// paid, but never more than these are excused.
const maxExcused = 19

// The conditions repeat those of the partial indexes word for word, which have an entry for nothing else.
const ofPayer = (state: string, condition: string, limit: number): string => `
  (select count(*) from (select from settlements
      where state = '${state}' and details @> '{"sponsored": true}'
        and network = $1 and payer_wallet = $3 and closed_at > $4 and ${condition} limit ${limit}) as rows)`

export const readSponsoringHistory = `
  select exists (select from settlements
      where state = 'confirmed' and (network like 'ton:%' or network like 'tron:%')
        and network = $1 and payee_wallet = $2) as has_recipient_settled,
    ${ofPayer('failed', 'transaction is not null and reason = any($5)', maxExcused + 1)}
      > ${ofPayer('confirmed', 'true', maxExcused)} as has_payer_failed`

const rows = z.tuple([z.object({ has_recipient_settled: z.boolean(), has_payer_failed: z.boolean() })])

export const createSponsoringHistory = (pool: Pool): SponsoringHistory => ({
  read: async ({ network, payer, payTo, reasons, since }) => {
    const result = await pool.query(readSponsoringHistory, [network, payTo, payer, since, reasons])
    const [record] = rows.parse(result.rows)
    return { hasRecipientSettled: record.has_recipient_settled, hasPayerFailed: record.has_payer_failed }
  },
})
